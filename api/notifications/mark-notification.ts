import { run, type Statement } from '../../db/statement.js';
import { type Context, userOf } from '../core/context.js';
import { notFound } from '../core/errors.js';
import { type NotificationRow, presentNotification } from './present.js';
import type { Notification } from './schema.js';
import { COLUMNS, VISIBLE } from './visible.sql.js';

/** $1 caller, $2 notification, $3 read or not. The first time it was read stays. */
const statement: Statement = {
  name: 'mark_notification',
  text: /* sql */ `
    update notifications n set read_at = case when $3 then coalesce(n.read_at, now()) end
    where ${VISIBLE} and n.notification_id = $2 returning ${COLUMNS}`,
};

/**
 * Marks one notification of the caller as read, or as unread again. Nothing is audited: it is the person's own, and changes nothing for
 * anybody else.
 * @throws RESOURCE_NOT_FOUND there is none, or it is somebody else's
 */
export async function markNotification(ctx: Context, id: string, read: boolean): Promise<Notification> {
  const [row] = await run<NotificationRow>(ctx.db, statement, [userOf(ctx), id, read]);
  if (!row) throw notFound('Notification');
  return presentNotification(row);
}
