import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { foldName } from '../grammar/fold.js';

/** $1 = team ids, $2 = lower-case names. */
const statement = defineStatement({
  name: 'members_named',
  text: /* sql */ `
    select m.team_id, u.user_id, array[u.username, u.display_name, u.name] as names from memberships m join users u using (user_id)
    where m.team_id = any($1::uuid[]) and u.status = 'active'
      and (lower(u.username) = any($2::text[]) or lower(normalize(u.display_name, nfkc)) = any($2) or lower(normalize(u.name, nfkc)) = any($2))`,
});

interface Row extends Record<string, unknown> {
  team_id: string;
  user_id: string;
  names: string[];
}

/** Returns a look-up of the members whom a folded name may mean in a team; a username wins over names. The caller may read the teams. */
export async function findMembers(
  { db }: Pick<Context, 'db'>,
  teamIds: readonly string[],
  names: readonly string[],
): Promise<(teamId: string, name: string) => string[]> {
  const rows = names.length === 0 ? [] : await run<Row>(db, statement, [[...new Set(teamIds)], names]);
  const folded = rows.map(({ names: own, ...row }) => ({ ...row, names: own.map(foldName) }));
  return (teamId, name) => {
    const found = folded.filter((row) => row.team_id === teamId && row.names.includes(name));
    const byUsername = found.filter((row) => row.names[0] === name);
    return (byUsername.length > 0 ? byUsername : found).map(({ user_id }) => user_id);
  };
}
