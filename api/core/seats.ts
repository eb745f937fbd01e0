import { run, type Statement } from '../../db/statement.js';
import type { Seat } from './access.js';
import { type Context, userOf } from './context.js';
import { notFound } from './errors.js';

const seatStatement: Statement = {
  name: 'seat_of',
  text: 'select role from memberships where team_id = $1 and user_id = $2',
};
/** Inside a writing transaction the seat must not be taken away before the commit (durability notes, 3.4). */
const lockedSeatStatement: Statement = { name: 'seat_held', text: `${seatStatement.text} for share` };

/** The caller's seat in a team, null for a stranger. In a transaction the row is held, so the right lasts until the commit. */
export async function seatOf(ctx: Context, teamId: string): Promise<Seat | null> {
  const statement = ctx.db.isTransaction ? lockedSeatStatement : seatStatement;
  const [row] = await run<{ role: Seat }>(ctx.db, statement, [teamId, userOf(ctx)]);
  return row?.role ?? null;
}

/**
 * The caller's seat in a live team, null for a stranger; held until the commit inside a transaction.
 * @throws RESOURCE_NOT_FOUND no such team
 */
export async function seatInTeam(ctx: Context, teamId: string): Promise<Seat | null> {
  const team = await ctx.db('teams').where({ team_id: teamId }).whereNull('deleted_at').first<{ team_id: string }>('team_id');
  if (!team) throw notFound('Team');
  return seatOf(ctx, teamId);
}
