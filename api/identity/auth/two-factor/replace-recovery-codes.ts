import type { Context } from '../../../platform/context.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { withTwoFactorProof } from './two-factor-proof.js';
import { renewRecoveryCodes } from './second-factor.js';

/** Creates ten recovery codes and voids the previous ones (docs/decisions/identity.md#recovery-codes). @throws PERMISSION_DENIED */
export function replaceRecoveryCodes(
  ctx: Context,
  proof: { password: string; code: string },
): Promise<{ recovery_codes: string[] }> {
  return withTwoFactorProof(ctx, proof, async (ctx, { user_id }) => {
    const recovery_codes = await renewRecoveryCodes(ctx, user_id);
    await recordChange(ctx, {
      team_id: null,
      feature: 'auth',
      action: 'recovery_codes_renewed',
      severity: 'HIGH',
      entity_type: 'user',
      entity_id: user_id,
    });
    return { recovery_codes };
  });
}
