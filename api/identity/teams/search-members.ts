import { defineStatement, run } from '../../../db/statement.js';
import { rolesFor } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';

/** A member of a team of the caller, once for each such team. */
export interface FoundMember extends Record<string, unknown> {
  team_id: string;
  team_name: string;
  user_id: string;
  display_name: string;
}

/** Words of a query that count. */
const MAX_WORDS = 6;

/** $1 = caller, $2 = roles that may read members, $3 = words in lower case, $4 = row limit. Each word begins one of the name or is the username's begin. */
const statement = defineStatement({
  name: 'search_members',
  text: /* sql */ `
    select t.team_id, t.name as team_name, u.user_id, u.display_name
    from memberships mine
    join teams t on t.team_id = mine.team_id and t.deleted_at is null
    join memberships m on m.team_id = t.team_id
    join users u on u.user_id = m.user_id
    where mine.user_id = $1 and mine.role = any($2::text[])
      and not exists (select from unnest($3::text[]) as word
        where strpos(' ' || translate(lower(u.display_name), '-.', '  ') || ' ' || lower(u.username), ' ' || word) = 0)
    order by lower(u.display_name), u.user_id, t.created_at limit $4`,
});

/** Returns the members of the caller's teams whose name has words that begin with all these; none without a word. */
export const searchMembers = (ctx: Context, words: readonly string[], limit: number): Promise<FoundMember[]> =>
  words.length === 0
    ? Promise.resolve([])
    : run<FoundMember>(ctx.db, statement, [requireUser(ctx), rolesFor('team.read'), words.slice(0, MAX_WORDS), limit]);
