import { run, type Statement } from '../../db/statement.js';
import { type Context, userOf } from '../core/context.js';
import { type NotificationRow, presentNotification } from './present.js';
import type { ListNotifications, Notification } from './schema.js';
import { COLUMNS, VISIBLE } from './visible.sql.js';

/** $1 caller, $2 the id to stay below or null, $3 only what is unread, $4 most rows. */
const statement: Statement = {
  name: 'list_notifications',
  text: /* sql */ `
    select ${COLUMNS} from notifications n
    where ${VISIBLE} and ($2::uuid is null or n.notification_id < $2) and (not $3 or n.read_at is null)
    order by n.notification_id desc limit $4`,
};

/** What the caller was told in the app, newest first (F5, `notify`). */
export async function listNotifications(ctx: Context, { before, unread, limit }: ListNotifications): Promise<Notification[]> {
  const rows = await run<NotificationRow>(ctx.db, statement, [userOf(ctx), before ?? null, unread, limit]);
  return rows.map(presentNotification);
}

/** The number at the door says "99" and no more. */
const MAX_COUNTED = 99;

/** $1 caller. */
const countStatement: Statement = {
  name: 'count_unread_notifications',
  text: /* sql */ `
    select count(*)::int as unread from (select from notifications n where ${VISIBLE} and n.read_at is null limit ${MAX_COUNTED}) few`,
};

/** How much the caller has not read yet, as far as it is counted. */
export async function countUnread(ctx: Context): Promise<number> {
  const [counted] = await run<{ unread: number }>(ctx.db, countStatement, [userOf(ctx)]);
  return counted?.unread ?? 0;
}
