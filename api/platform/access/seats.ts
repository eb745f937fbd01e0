import { Team } from '../../../db/models/team.js';
import { defineStatement, run } from '../../../db/statement.js';
import type { Seat } from './access.js';
import { type Context, requireUser } from '../context.js';
import { notFound } from '../errors.js';

const seatStatement = defineStatement({
  name: 'seat_of',
  text: 'select role from memberships where team_id = $1 and user_id = $2',
});
/** Inside a writing transaction the membership must not change before the commit. */
const lockedSeatStatement = defineStatement({ name: 'seat_held', text: `${seatStatement.text} for share` });

/** Returns the caller's role in a team, null for a non-member. A transaction locks the row, so the role lasts until the commit. */
export async function findSeat(ctx: Context, teamId: string): Promise<Seat | null> {
  const statement = ctx.db.isTransaction ? lockedSeatStatement : seatStatement;
  const [row] = await run<{ role: Seat }>(ctx.db, statement, [teamId, requireUser(ctx)]);
  return row?.role ?? null;
}

/**
 * Returns the caller's role in a team, null for a non-member; locked until the commit inside a transaction.
 * @throws RESOURCE_NOT_FOUND if the team does not exist or is deleted
 */
export async function seatInTeam(ctx: Context, teamId: string): Promise<Seat | null> {
  const team = await Team.query(ctx.db).findById(teamId).modify('live').select('team_id');
  if (!team) throw notFound('Team');
  return findSeat(ctx, teamId);
}
