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
 * Queues an email in the transaction of its cause: both are stored or neither. After the commit the worker sends it at least once,
 * always with the same Message-ID; no request waits for it.
 * @returns the email's id
 */
export async function queueMail<T extends Template>(ctx: Context, mail: NewMail<T>): Promise<string> {
  const mail_id = newId();
  await ctx.db('mails').insert({
    mail_id,
    recipient: mail.to,
    template: mail.template,
    sealed_data: encryptField(ctx.config, 'mail', mail_id, JSON.stringify(mail.data)),
    useful_until: mail.usefulMinutes === undefined ? null : ctx.db.raw('now() + make_interval(mins => ?)', [mail.usefulMinutes]),
    next_attempt_at: ctx.db.raw('now() + make_interval(mins => ?)', [mail.afterMinutes ?? 0]),
    correlation_id: ctx.correlationId,
  });
  return mail_id;
}

/** Ends the delay of an email. */
export async function sendMailNow(ctx: Context, mailId: string): Promise<void> {
  await ctx.db('mails').where({ mail_id: mailId, state: 'queued', attempts: 0 }).update({ next_attempt_at: ctx.db.fn.now() });
}
