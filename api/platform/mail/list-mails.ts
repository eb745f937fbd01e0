import { defineStatement, run } from '../../../db/statement.js';
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

interface Row extends Record<string, unknown> {
  mail_id: string;
  recipient: string;
  template: string;
  sealed_data: Buffer;
  created_at: Date;
}

const MAX_MAILS = 200;

/** $1 = recipient or null for all, $2 = mail id or null for all. Emails scheduled for later are hidden until then. */
const keptStatement = defineStatement({
  name: 'list_kept_mails',
  text: /* sql */ `
    select mail_id, recipient, template, sealed_data, created_at from mails
    where sealed_data is not null and (attempts > 0 or next_attempt_at <= now())
      and ($1::text is null or recipient = $1) and ($2::uuid is null or mail_id = $2) order by mail_id desc limit ${MAX_MAILS}`,
});

const toMailboxEntry = ({ config }: Services, { mail_id, recipient, template, sealed_data, created_at }: Row): MailboxEntry => ({
  mail_id,
  to: recipient,
  ...renderMail(template, JSON.parse(decryptField(config, 'mail', mail_id, sealed_data))),
  sent_at: created_at.toISOString(),
});

/** Without a mail server, emails stay in the table and can be read here; never in production. */
async function readKept(services: Services, to: string | null, mailId: string | null): Promise<MailboxEntry[]> {
  if (!isDevelopment(services.config)) throw notFound('Mailbox');
  const rows = await run<Row>(services.db, keptStatement, [to, mailId === null ? null : Id.parse(mailId)]);
  return rows.map((row) => toMailboxEntry(services, row));
}

/**
 * Lists the captured emails, newest first; `to` selects one recipient.
 * @throws RESOURCE_NOT_FOUND in production
 */
export const listMails = (services: Services, to?: string): Promise<MailboxEntry[]> =>
  readKept(services, to?.trim().toLowerCase() ?? null, null);

/** Returns one email. @throws RESOURCE_NOT_FOUND */
export async function getMail(services: Services, mailId: string): Promise<MailboxEntry> {
  const [mail] = await readKept(services, null, mailId);
  if (!mail) throw notFound('Mail');
  return mail;
}
