import { authorize } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { seatInTeam, findSeat } from '../../platform/access/seats.js';
import { purgeBefore } from './purge-before.js';

/**
 * Permanently deletes everything that a team has in the trash now. Returns the number of items.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below admin
 */
export async function emptyTrash(ctx: Context, teamId: string): Promise<number> {
  authorize('trash.empty', await seatInTeam(ctx, teamId));
  return purgeBefore(ctx, {
    teamId,
    days: 0,
    cause: 'emptied',
    allow: async (ctx) => authorize('trash.empty', await findSeat(ctx, teamId)),
  });
}
