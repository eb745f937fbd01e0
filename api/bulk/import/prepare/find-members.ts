import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';

/** $1 = team id. Nobody but members is found: a file must not tell who else has an account. */
const statement = defineStatement({
  name: 'members_for_import',
  text: /* sql */ `
    select u.user_id, u.email, u.username, u.name, u.display_name from memberships m join users u using (user_id)
    where m.team_id = $1 and u.status = 'active'`,
});

interface Member extends Record<string, unknown> {
  user_id: string;
  email: string;
  username: string;
  name: string;
  display_name: string;
}

/** Returns a search for members by email address, user name or name, in any case. A name that several members have finds none of them. */
export async function findMembers({ db }: Pick<Context, 'db'>, teamId: string): Promise<(name: string) => string | undefined> {
  const members = await run<Member>(db, statement, [teamId]);
  const byName = new Map<string, string | null>();
  for (const { user_id, ...names } of members) {
    for (const name of [names.username, names.name, names.display_name].map((each) => each.toLowerCase())) {
      const known = byName.get(name);
      byName.set(name, known === undefined || known === user_id ? user_id : null);
    }
  }
  // An address belongs to one user, whatever others call themselves.
  for (const { user_id, email } of members) byName.set(email, user_id);
  return (name) => byName.get(name.trim().toLowerCase()) ?? undefined;
}
