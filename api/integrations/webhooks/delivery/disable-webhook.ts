import { Webhook } from '../../../../db/models/webhook.js';
import { defineStatement, run } from '../../../../db/statement.js';
import { type Context, serviceContext, type Services } from '../../../platform/context.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { findRecipients } from '../../../work/notifications/find-recipients.js';
import { type Channel, notifyUsers } from '../../../work/notifications/notify-users.js';

type Reason = 'gone' | 'failing';

/** $1 = endpoint. Notes a mail of now; no row if the last one is less than an hour old. */
const noteMail = defineStatement({
  name: 'webhook_note_mail',
  text: /* sql */ `
    update webhook_health set mailed_at = now()
    where webhook_id = $1 and coalesce(mailed_at, '-infinity') < now() - interval '1 hour' returning webhook_id`,
});

const WHY: Record<Reason, string> = {
  gone: 'its receiver answered that it is gone',
  failing: 'every attempt failed for days',
};

/** Notes an email about an endpoint; false if there was one in the last hour. An admin who enables it again and again mails nobody so often. */
async function mayMail({ db }: Context, webhookId: string): Promise<boolean> {
  return (await run(db, noteMail, [webhookId])).length > 0;
}

async function disable(ctx: Context, webhookId: string, reason: Reason): Promise<void> {
  const [webhook] = await Webhook.query(ctx.db)
    .where({ webhook_id: webhookId, is_active: true })
    .patch({ is_active: false, disabled_reason: reason, updated_at: new Date() })
    .returning('*');
  if (!webhook) return;
  const { webhook_id, team_id, url, description } = webhook;
  // Where an endpoint is may itself be a secret: a path or a query of the address goes to nobody else.
  const { host } = new URL(url);
  await recordChange(ctx, {
    team_id,
    feature: 'webhooks',
    action: 'toggle',
    severity: 'MEDIUM',
    entity_type: 'webhook',
    entity_id: webhook_id,
    // No line in the activity feed, which guests can read: only admins know of endpoints.
    details: { disabled_reason: reason, host },
    event: {
      type: 'webhook.disabled',
      payload: { webhook: { webhook_id, team_id, host, description, disabled_reason: reason } },
    },
  });
  const channels: Channel[] = (await mayMail(ctx, webhook_id)) ? ['in_app', 'email'] : ['in_app'];
  const admins = await findRecipients(ctx, { teamId: team_id, role: 'admin' });
  const message = `The endpoint at ${host} no longer receives events: ${WHY[reason]}. Enable it again when its receiver works, then replay what it missed.`;
  const title = 'A webhook endpoint was disabled';
  const path = `/app/teams/${team_id}/webhooks/${webhook_id}` as const;
  await notifyUsers(ctx, admins, { kind: 'message', title, message, team_id, run_id: null, path }, channels);
}

/**
 * Disables an endpoint whose receiver is gone or keeps failing, and tells the team's admins, in one transaction. Does nothing if the
 * endpoint is inactive or deleted already.
 */
export async function disableWebhook(services: Services, webhookId: string, reason: Reason): Promise<void> {
  const ctx = serviceContext(services, 'webhooks');
  await services.db.transaction((db) => disable({ ...ctx, db }, webhookId, reason));
  services.notifyRelay();
}
