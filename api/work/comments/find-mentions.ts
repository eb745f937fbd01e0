import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { mentionedNames } from './rules.js';

const statement = defineStatement({
  name: 'mentioned_members',
  text: /* sql */ `
    select u.user_id from unnest($2::text[]) with ordinality as n(name, place)
    join users u on lower(u.username) = n.name join memberships m on m.user_id = u.user_id and m.team_id = $1
    order by n.place`,
});

/** Returns the ids of team members that a text mentions by `@username`; ignores other names. */
export async function findMentions(ctx: Context, teamId: string, content: string): Promise<string[]> {
  const names = mentionedNames(content);
  if (names.length === 0) return [];
  const rows = await run<{ user_id: string }>(ctx.db, statement, [teamId, names]);
  return rows.map((row) => row.user_id);
}
