import type { Services } from '../context.js';
import { isDevelopment } from '../config.js';
import { notFound } from '../errors.js';
import { Id } from '../fields.js';
import { decryptField } from '../crypto/encryption.js';
import { type RenderedMail, renderMail } from './render.js';

/** An email of the development mailbox. */
export interface MailboxEntry extends RenderedMail {
  mail_id: string;
  to: string;
  sent_at: string;
}

interface Row {
  mail_id: string;
  recipient: string;
  template: string;
  sealed_data: Buffer;
  created_at: Date;
}

const MAX_MAILS = 200;

/** Without a mail server, emails stay in the table and can be read here; never in production. */
const kept = ({ db, config }: Services) => {
  if (!isDevelopment(config)) throw notFound('Mailbox');
  // Emails scheduled for later are hidden until then.
  return db<Row>('mails').whereNotNull('sealed_data').whereRaw('(attempts > 0 or next_attempt_at <= now())');
};

const toMailboxEntry = ({ config }: Services, { mail_id, recipient, template, sealed_data, created_at }: Row): MailboxEntry => ({
  mail_id,
  to: recipient,
  ...renderMail(template, JSON.parse(decryptField(config, 'mail', mail_id, sealed_data))),
  sent_at: created_at.toISOString(),
});

/**
 * Lists the captured emails, newest first; `to` selects one recipient.
 * @throws RESOURCE_NOT_FOUND in production
 */
export async function listMails(services: Services, to?: string): Promise<MailboxEntry[]> {
  const query = kept(services).orderBy('mail_id', 'desc').limit(MAX_MAILS);
  const rows = await (to === undefined ? query : query.where({ recipient: to.trim().toLowerCase() }));
  return rows.map((row) => toMailboxEntry(services, row));
}

/** Returns one email. @throws RESOURCE_NOT_FOUND */
export async function getMail(services: Services, mailId: string): Promise<MailboxEntry> {
  const row = await kept(services)
    .where({ mail_id: Id.parse(mailId) })
    .first();
  if (!row) throw notFound('Mail');
  return toMailboxEntry(services, row);
}
