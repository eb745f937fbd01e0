import { defineStatement } from '../../../db/statement.js';

/**
 * $1 = user id, $2 = roles that may write. Returns the team for an item without team and project: the user's default team, else the oldest
 * team, of those where the user may write. No row: there is none.
 */
export const defaultTeamStatement = defineStatement({
  name: 'default_team_of_user',
  text: /* sql */ `
    select t.team_id from memberships m
    cross join lateral (select * from teams t where t.team_id = m.team_id and t.deleted_at is null limit 1) t
    where m.user_id = $1 and coalesce(m.role = any($2::text[]), false)
    order by t.team_id::text = (select u.preferences->>'default_team_id' from users u where u.user_id = $1) desc nulls last,
      t.created_at, t.team_id limit 1`,
});
