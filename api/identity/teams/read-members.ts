import { defineStatement, run } from '../../../db/statement.js';
import type { Seat } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import type { Member } from './schema.js';

interface MemberRow extends Record<string, unknown> {
  user_id: string;
  email: string;
  name: string;
  display_name: string;
  username: string;
  avatar: string;
  role: Seat;
  joined_at: Date;
}

/** $1 = team id, $2 = user id or null for all. */
const statement = defineStatement({
  name: 'read_members',
  text: /* sql */ `
    select u.user_id, u.email, u.name, u.display_name, u.username, u.avatar, m.role, m.joined_at
    from memberships m join users u using (user_id)
    where m.team_id = $1 and ($2::uuid is null or m.user_id = $2) order by m.joined_at, m.user_id`,
});

const present = (row: MemberRow): Member => ({
  user_id: row.user_id,
  email: row.email,
  name: row.name,
  display_name: row.display_name,
  username: row.username,
  avatar: row.avatar,
  role: row.role,
  is_guest: row.role === 'guest',
  joined_at: row.joined_at.toISOString(),
});

/** Returns the members of a team in the order of joining. */
export async function readMembers(ctx: Context, teamId: string): Promise<Member[]> {
  return (await run<MemberRow>(ctx.db, statement, [teamId, null])).map(present);
}

/** Returns one member of a team, or undefined. */
export async function readMember(ctx: Context, teamId: string, userId: string): Promise<Member | undefined> {
  const [row] = await run<MemberRow>(ctx.db, statement, [teamId, userId]);
  return row && present(row);
}
