import { defineStatement, run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { needsConsent } from '../../platform/settings/people-settings.js';

/** $1 = caller id, $2 = user ids. Returns those who are members of a live team of the caller. */
const statement = defineStatement({
  name: 'users_sharing_a_team',
  text: /* sql */ `
    select u.user_id from unnest($2::uuid[]) as u (user_id)
    where exists (select from memberships own join memberships other using (team_id) join teams t using (team_id)
      where own.user_id = $1 and other.user_id = u.user_id and t.deleted_at is null)`,
});

/**
 * Returns those users whom the caller may add to a team without asking them: everyone, or, where the installation requires consent, members of
 * the caller's teams (docs/decisions/identity.md#membership-by-id).
 */
export async function addableAmong(ctx: Context, userIds: readonly string[]): Promise<Set<string>> {
  if (userIds.length === 0 || !needsConsent(ctx.config)) return new Set(userIds);
  const rows = await run<{ user_id: string }>(ctx.db, statement, [requireUser(ctx), userIds]);
  return new Set(rows.map(({ user_id }) => user_id));
}
