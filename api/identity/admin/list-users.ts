import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import type { AdminUser, ListUsers } from './schema.js';

type Row = Omit<AdminUser, 'created_at' | 'last_seen_at'> & { created_at: Date; last_seen_at: Date | null };

/** $1 = part of a name or null, escaped for `like`; $2 = status or null. */
const FOUND = /* sql */ `from users u
  where ($1::text is null or concat_ws(' ', u.email, u.name, u.username, u.display_name) ilike '%' || $1 || '%')
    and ($2::text is null or u.status = $2)`;

/** $3 = row limit, $4 = offset. */
const listStatement = defineStatement({
  name: 'list_users',
  text: /* sql */ `
    select u.user_id, u.email, u.name, u.username, u.display_name, u.role, u.status, u.created_at,
      u.two_factor_enabled_at is not null as two_factor_enabled,
      exists (select from login_attempts g where g.subject = 'mail ' || u.email and g.locked_until > now()) as locked,
      (select count(*)::int from memberships m join teams t using (team_id) where m.user_id = u.user_id and t.deleted_at is null) as teams,
      (select max(s.last_seen_at) from sessions s where s.user_id = u.user_id and s.impersonator_id is null) as last_seen_at
    ${FOUND} order by u.created_at, u.user_id limit $3 offset $4`,
});
const countStatement = defineStatement({ name: 'count_users', text: `select count(*)::int as total ${FOUND}` });

const escaped = (q: string | undefined): string | null => (q ? q.replace(/[\\%_]/g, '\\$&') : null);

/** Lists all users, oldest first. The access table restricts this to administrators. */
export async function listUsers(ctx: Context, { q, status, limit, offset }: ListUsers): Promise<AdminUser[]> {
  const rows = await run<Row>(ctx.db, listStatement, [escaped(q), status ?? null, limit, offset]);
  return rows.map((row) => ({
    ...row,
    created_at: row.created_at.toISOString(),
    last_seen_at: row.last_seen_at?.toISOString() ?? null,
  }));
}

/** Counts the users over all pages. */
export async function countUsers(ctx: Context, { q, status }: Pick<ListUsers, 'q' | 'status'>): Promise<number> {
  const [row] = await run<{ total: number }>(ctx.db, countStatement, [escaped(q), status ?? null]);
  return row?.total ?? 0;
}
