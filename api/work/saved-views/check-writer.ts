import { Membership } from '../../../db/models/membership.js';
import { authorize, rolesFor } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { forbidden, invalid } from '../../platform/errors.js';
import { seatInTeam } from '../../platform/access/seats.js';

/**
 * Rejects a caller who may not save a view: a guest of its team, or of every team for a view without one.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED | INVALID_REQUEST shared without a team
 */
export async function checkWriter(ctx: Context, teamId: string | null, isShared: boolean): Promise<void> {
  if (teamId !== null) return authorize('saved_view.write', await seatInTeam(ctx, teamId));
  if (isShared) throw invalid('A shared view needs a team_id');
  const seat = await Membership.query(ctx.db)
    .where({ user_id: requireUser(ctx) })
    .whereIn('role', rolesFor('saved_view.write'))
    .first();
  if (!seat) throw forbidden('Guests have read-only access');
}
