import { v7 as uuidv7 } from 'uuid';
import type { Context } from '../core/context.js';
import { encryptField } from '../core/crypto/encryption.js';
import type { MailData, Template } from './templates.js';

export interface NewMail<T extends Template> {
  /** One address. */
  to: string;
  template: T;
  data: MailData<T>;
  /** After so many minutes it is of no use and is not sent any more: a code that has run out. */
  usefulMinutes?: number;
  /** Not before so many minutes have passed; `sendMailNow` brings it forward. */
  afterMinutes?: number;
}

/**
 * Puts a mail into the queue, in the transaction of what it tells about: both are stored or neither. After the commit the worker's
 * dispatcher sends it, at least once and with one Message-ID; nobody waits for it (issue 5, item 6).
 * @returns the mail's id
 */
export async function queueMail<T extends Template>(ctx: Context, mail: NewMail<T>): Promise<string> {
  const mail_id = uuidv7();
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

/** What a mail was to wait for has happened: it goes now. */
export async function sendMailNow(ctx: Context, mailId: string): Promise<void> {
  await ctx.db('mails').where({ mail_id: mailId, state: 'queued', attempts: 0 }).update({ next_attempt_at: ctx.db.fn.now() });
}
