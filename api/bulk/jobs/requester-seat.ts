import { defineStatement, run } from '../../../db/statement.js';
import { isAllowed, type Seat } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { DomainError } from '../../platform/errors.js';
import { seatInTeam } from '../../platform/access/seats.js';

/** $1 = user id. Not locked: a suspension must not wait for a batch. The next batch sees it. */
const activeStatement = defineStatement({
  name: 'active_requester',
  text: "select true as is_active from users where user_id = $1 and status = 'active'",
});

/**
 * Returns the role on which a batch of a job works, locked until the commit. Null: the requester lost the permission, is
 * suspended, or the team is deleted.
 */
export async function requesterSeat(ctx: Context, teamId: string): Promise<Seat | null> {
  const seat = await seatInTeam(ctx, teamId).catch((error: unknown) => {
    if (error instanceof DomainError) return null;
    throw error;
  });
  if (seat === null || !isAllowed('bulk.run', seat)) return null;
  const active = await run(ctx.db, activeStatement, [requireUser(ctx)]);
  return active.length > 0 ? seat : null;
}
