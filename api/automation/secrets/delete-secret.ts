import { TeamSecret } from '../../../db/models/automation/team-secret.js';
import { authorize } from '../../platform/access/access.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { conflict, notFound } from '../../platform/errors.js';
import { seatInTeam } from '../../platform/access/seats.js';
import { findReferences } from './find-references.js';
import { recordUse } from './record-use.js';

/** Names in the error's text; its list has all. */
const NAMED = 10;

/**
 * Deletes a secret permanently. Requires `force` while automations refer to it; their actions then fail with `secret_missing`.
 * @throws RESOURCE_NOT_FOUND team or secret | PERMISSION_DENIED below admin | RESOURCE_CONFLICT naming the automations
 */
export function deleteSecret(ctx: Context, teamId: string, name: string, force: boolean): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    authorize('secret.write', await seatInTeam(ctx, teamId));
    const deleted = await TeamSecret.query(ctx.db).deleteById([teamId, name]);
    if (deleted === 0) throw notFound('Secret');
    const automations = await findReferences(ctx.db, teamId, name);
    if (automations.length > 0 && !force) {
      const shown = automations.slice(0, NAMED).map((automation) => automation.name);
      const detail = `Referenced by automations: ${[...shown, ...(automations.length > NAMED ? ['…'] : [])].join(', ')}`;
      throw conflict('Automations reference this secret', { detail, extra: { automations } });
    }
    await recordUse(ctx, teamId, name, 'delete', { force, automations: automations.map(({ automation_id }) => automation_id) });
  });
}
