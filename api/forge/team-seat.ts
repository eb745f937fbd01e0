import type { Seat } from '../core/access.js';
import type { Context } from '../core/context.js';
import { notFound } from '../core/errors.js';
import { seatOf } from '../core/seats.js';

/**
 * The caller's seat in a live team, null for a stranger; held until the commit inside a transaction.
 * @throws RESOURCE_NOT_FOUND no such team
 */
export async function seatInTeam(ctx: Context, teamId: string): Promise<Seat | null> {
  const team = await ctx.db('teams').where({ team_id: teamId }).whereNull('deleted_at').first<{ team_id: string }>('team_id');
  if (!team) throw notFound('Team');
  return seatOf(ctx, teamId);
}
