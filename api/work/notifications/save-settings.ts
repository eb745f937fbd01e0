import { defineStatement, run } from '../../../db/statement.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import type { NotificationSettings } from './schema.js';

/** $1 = user id, $2 = when emails come. Notices that wait for an email get none if none shall come. */
const statement = defineStatement({
  name: 'save_notification_settings',
  text: /* sql */ `
    with unwanted as (
      update notifications set mail_at = null where user_id = $1 and mail_at is not null and $2 = 'never'
    )
    update users set notice_mail = $2 where user_id = $1 and notice_mail <> $2 returning true as changed`,
});

/** Replaces the caller's settings of notifications. What is set already changes nothing and is not recorded. */
export function saveNotificationSettings(ctx: Context, settings: NotificationSettings): Promise<NotificationSettings> {
  return inTransaction(ctx, async (ctx) => {
    const user_id = requireUser(ctx);
    if ((await run(ctx.db, statement, [user_id, settings.mail])).length === 0) return settings;
    const entity = { entity_type: 'user' as const, entity_id: user_id };
    await recordChange(ctx, {
      team_id: null,
      feature: 'auth',
      action: 'update',
      ...entity,
      details: { fields: ['notice_mail'] },
    });
    return settings;
  });
}
