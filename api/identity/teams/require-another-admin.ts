import { defineStatement, run } from '../../../db/statement.js';
import type { Seat } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { conflict } from '../../platform/errors.js';

/** $1 = team id, $2 = removed user. Ignores deprovisioned users, whose membership may still exist. */
const otherStatement = defineStatement({
  name: 'other_admin',
  text: /* sql */ `
    select from memberships m join users u using (user_id)
    where m.team_id = $1 and m.user_id <> $2 and m.role = 'admin' and u.status <> 'deprovisioned' limit 1`,
});

/** Returns whether a locked team has another admin than this user. */
export const hasOtherAdmin = async (ctx: Context, teamId: string, userId: string): Promise<boolean> =>
  (await run(ctx.db, otherStatement, [teamId, userId])).length > 0;

/**
 * Rejects the removal of a team's last admin (docs/decisions/identity.md#last-admin). The caller locked the team, so no other membership changes concurrently.
 * @throws RESOURCE_CONFLICT
 */
export async function requireAnotherAdmin(
  ctx: Context,
  leaving: { team_id: string; user_id: string; role: Seat },
): Promise<void> {
  if (leaving.role === 'admin' && !(await hasOtherAdmin(ctx, leaving.team_id, leaving.user_id))) {
    throw conflict('A team must have at least one admin', {
      detail: 'Make another member an admin first, or delete the team.',
    });
  }
}
