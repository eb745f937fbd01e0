import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../context.js';
import { encryptField } from '../crypto/encryption.js';
import type { MailData, Template } from './templates.js';
import { newId } from '../ids.js';

export interface NewMail<T extends Template> {
  /** One address. */
  to: string;
  template: T;
  data: MailData<T>;
  /** Minutes after which the email is useless and no longer sent, such as one with an expired code. */
  usefulMinutes?: number;
  /** Delay in minutes; `sendMailNow` ends it. */
  afterMinutes?: number;
}

/**
 * $1 = mail id, $2 = recipient, $3 = template, $4 = encrypted data, $5 = minutes for which it is useful, or null, $6 = delay in minutes,
 * $7 = correlation id.
 */
const queueStatement = defineStatement({
  name: 'queue_mail',
  text: /* sql */ `
    insert into mails (mail_id, recipient, template, sealed_data, useful_until, next_attempt_at, correlation_id)
    values ($1, $2, $3, $4, now() + make_interval(mins => $5), now() + make_interval(mins => $6), $7)`,
});
/** $1 = mail id. */
const sendNowStatement = defineStatement({
  name: 'send_mail_now',
  text: `update mails set next_attempt_at = now() where mail_id = $1 and state = 'queued' and attempts = 0`,
});

/**
 * Queues an email in the transaction of its cause: both are stored or neither. After the commit the worker sends it at least once,
 * always with the same Message-ID; no request waits for it.
 * @returns the email's id
 */
export async function queueMail<T extends Template>(ctx: Context, mail: NewMail<T>): Promise<string> {
  const mail_id = newId();
  const sealed = encryptField(ctx.config, 'mail', mail_id, JSON.stringify(mail.data));
  const minutes = [mail.usefulMinutes ?? null, mail.afterMinutes ?? 0];
  await run(ctx.db, queueStatement, [mail_id, mail.to, mail.template, sealed, ...minutes, ctx.correlationId]);
  return mail_id;
}

/** Ends the delay of an email. */
export async function sendMailNow(ctx: Context, mailId: string): Promise<void> {
  await run(ctx.db, sendNowStatement, [mailId]);
}
