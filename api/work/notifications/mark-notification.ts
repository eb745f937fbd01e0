import { defineStatement, run } from '../../../db/statement.js';
import { passesIfStrict } from '../../platform/access/require-scope.js';
import { type Context, requireUser } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { type NotificationRow, presentNotification } from './present.js';
import type { Notification } from './schema.js';
import { COLUMNS, mayShow, VISIBLE } from './visible.sql.js';

/** $1 = caller id, $2 = notification id, $3 = read, $4 = whether the caller's token may read tasks. Keeps the time of the first reading. */
const statement = defineStatement({
  name: 'mark_notification',
  text: /* sql */ `
    update notifications n set read_at = case when $3 then coalesce(n.read_at, now()) end
    where ${VISIBLE} and n.notification_id = $2 and ${mayShow('$4')} returning ${COLUMNS}`,
});

/**
 * Marks one notification of the caller as read or unread. Not audited, because it affects nobody else.
 * @throws RESOURCE_NOT_FOUND unknown, another user's, or about a task that the caller's token may not read
 */
export async function markNotification(ctx: Context, id: string, read: boolean): Promise<Notification> {
  const [row] = await run<NotificationRow>(ctx.db, statement, [requireUser(ctx), id, read, passesIfStrict(ctx, 'tasks:read')]);
  if (!row) throw notFound('Notification');
  return presentNotification(row);
}
