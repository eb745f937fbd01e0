import { TeamSecret } from '../../../db/models/automation/team-secret.js';
import { authorize } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { seatInTeam } from '../../platform/access/seats.js';
import type { SecretList } from './schema.js';

/**
 * Lists the names of a team's secrets with their allowed hosts, in alphabetical order; never the values.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below admin
 */
export async function listSecrets(ctx: Context, teamId: string): Promise<SecretList> {
  authorize('secret.list', await seatInTeam(ctx, teamId));
  const rows = await TeamSecret.query(ctx.db).where({ team_id: teamId }).orderBy('name').select('name', 'allowed_hosts');
  const details = rows.map(({ name, allowed_hosts }) => ({ name, allowed_hosts }));
  return { team_id: teamId, secrets: details.map(({ name }) => name), details };
}
