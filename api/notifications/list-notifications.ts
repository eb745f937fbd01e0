import { run, type Statement } from '../../db/statement.js';
import { type Context, userOf } from '../core/context.js';
import type { ListNotifications, Notification } from './schema.js';

/** $1 caller, $2 the id to stay below or null, $3 most rows. What a team told is read by its members only, also afterwards. */
const statement: Statement = {
  name: 'list_notifications',
  text: /* sql */ `
    select n.notification_id, n.kind, n.message, n.team_id, n.run_id, n.created_at from notifications n
    where n.user_id = $1 and ($2::uuid is null or n.notification_id < $2)
      and (n.team_id is null or exists (select from memberships m where m.team_id = n.team_id and m.user_id = $1))
    order by n.notification_id desc limit $3`,
};

/** What the caller was told in the app, newest first (F5, `notify`). */
export async function listNotifications(ctx: Context, { before, limit }: ListNotifications): Promise<Notification[]> {
  type Row = Omit<Notification, 'created_at'> & { created_at: Date };
  const rows = await run<Row>(ctx.db, statement, [userOf(ctx), before ?? null, limit]);
  return rows.map((row) => ({ ...row, created_at: row.created_at.toISOString() }));
}
