import { defineStatement, run } from '../../../db/statement.js';
import { passesIfStrict } from '../../platform/access/require-scope.js';
import { type Context, requireUser } from '../../platform/context.js';
import { type NotificationRow, presentNotification } from './present.js';
import type { ListNotifications, Notification } from './schema.js';
import { COLUMNS, mayShow, VISIBLE } from './visible.sql.js';

/** $1 = caller id, $2 = cursor (exclusive) or null, $3 = unread only, $4 = row limit, $5 = whether the caller's token may read tasks. */
const statement = defineStatement({
  name: 'list_notifications',
  text: /* sql */ `
    select ${COLUMNS} from notifications n
    where ${VISIBLE} and ($2::uuid is null or n.notification_id < $2) and (not $3 or n.read_at is null) and ${mayShow('$5')}
    order by n.notification_id desc limit $4`,
});

/** Lists the caller's notifications, newest first; those about tasks only where the caller's token may read tasks. */
export async function listNotifications(ctx: Context, { before, unread, limit }: ListNotifications): Promise<Notification[]> {
  const rows = await run<NotificationRow>(ctx.db, statement, [
    requireUser(ctx),
    before ?? null,
    unread,
    limit,
    passesIfStrict(ctx, 'tasks:read'),
  ]);
  return rows.map(presentNotification);
}

/** The badge is capped at 99; further unread notifications than these are not counted. */
const MAX_COUNTED = 99;
const MAX_READ = 300;

/** $1 = caller id. Several of one task, run, plan or change request count once, as the inbox shows them. */
const countStatement = defineStatement({
  name: 'count_unread_notifications',
  text: /* sql */ `
    select least(count(distinct few.subject), ${MAX_COUNTED})::int as unread from (
      select coalesce('item ' || n.item_id, 'run ' || n.run_id, 'plan ' || n.action_id, 'request ' || n.request_id, n.notification_id::text) as subject
      from notifications n where ${VISIBLE} and n.read_at is null order by n.notification_id desc limit ${MAX_READ}
    ) few`,
});

/** Counts what the caller's unread notifications are about, up to the cap. */
export async function countUnread(ctx: Context): Promise<number> {
  const [counted] = await run<{ unread: number }>(ctx.db, countStatement, [requireUser(ctx)]);
  return counted?.unread ?? 0;
}
