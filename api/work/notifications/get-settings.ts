import { defineStatement, run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import type { NotificationSettings } from './schema.js';

/** $1 = user id. */
const statement = defineStatement({
  name: 'notification_settings',
  text: 'select notice_mail as mail from users where user_id = $1',
});

/** Returns the caller's settings of notifications. */
export async function getNotificationSettings(ctx: Context): Promise<NotificationSettings> {
  const [row] = await run<NotificationSettings & Record<string, unknown>>(ctx.db, statement, [requireUser(ctx)]);
  return row as NotificationSettings;
}
