import type { Context } from '../../../platform/context.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { queueMail } from '../../../platform/mail/queue-mail.js';

/** Records that two-factor sign-in was enabled or disabled, and emails the owner. */
export async function recordTwoFactorChange(
  ctx: Context,
  user: { user_id: string; email: string; name: string },
  on: boolean,
): Promise<void> {
  await queueMail(ctx, { to: user.email, template: 'two-factor-changed', data: { name: user.name, on } });
  await recordChange(ctx, {
    team_id: null,
    feature: 'auth',
    action: on ? 'two_factor_on' : 'two_factor_off',
    severity: 'HIGH',
    entity_type: 'user',
    entity_id: user.user_id,
  });
}
