import { defineStatement, run } from '../../../db/statement.js';
import type { Services } from '../context.js';
import { decryptField } from '../crypto/encryption.js';
import { type RenderedMail, renderMail } from './render.js';
import type { Template } from './templates.js';
import type { Tracer } from '../telemetry/tracing/tracer.js';

/** Sends one email to a mail server. @throws any error of the server or the connection */
export type Transport = (mail: RenderedMail & { mailId: string; to: string }) => Promise<void>;

/** Emails sent concurrently. */
const BATCH = 10;
/** Lease of a claimed email, s: longer than any attempt (docs/decisions/platform.md#email-delivery). */
const LEASE_SECONDS = 90;
/** Delay before the next attempt, s: 4, 8, 16 … at most ten minutes. */
const BACKOFF = 'least(600, power(2, least(attempts, 10) + 1))';
const GIVE_UP_HOURS = 24;

/** Useless emails are not sent: an expired code only confuses. */
const expireStatement = defineStatement({
  name: 'expire_mails',
  text: /* sql */ `
    update mails set state = 'failed', sealed_data = case when useful_until < now() then null else sealed_data end,
      last_error = concat_ws('; ', 'its time ran out before it could be sent', last_error)
    where state = 'queued' and (useful_until < now() or created_at < now() - interval '${GIVE_UP_HOURS} hours')
    returning mail_id, template, attempts, last_error`,
});

/** Emails that other people cause in any number. A code or a security email does not wait behind them. */
const AT_LEISURE: readonly Template[] = ['notice', 'notices', 'held-mails', 'plans-wait', 'gates-wait', 'team-invitation'];

/** $1 = templates that come last. */
const claimStatement = defineStatement({
  name: 'claim_mails',
  text: /* sql */ `
    update mails set attempts = attempts + 1, next_attempt_at = now() + interval '${LEASE_SECONDS} seconds'
    where mail_id = any(array(select mail_id from mails where state = 'queued' and next_attempt_at <= now()
      order by template = any($1::text[]), next_attempt_at limit ${BATCH} for update skip locked))
    returning mail_id, recipient, template, sealed_data, attempts, correlation_id`,
});

const sentStatement = defineStatement({
  name: 'mail_sent',
  text: `update mails set state = 'sent', sent_at = now(), sealed_data = null, last_error = null where mail_id = $1 and state = 'queued'`,
});

const postponeStatement = defineStatement({
  name: 'postpone_mail',
  text: `update mails set last_error = $2, next_attempt_at = now() + make_interval(secs => ${BACKOFF}) where mail_id = $1 and state = 'queued'`,
});

const failStatement = defineStatement({
  name: 'fail_mail',
  text: `update mails set state = 'failed', last_error = $2 where mail_id = $1 and state = 'queued'`,
});

interface ClaimedMail extends Record<string, unknown> {
  mail_id: string;
  recipient: string;
  template: string;
  sealed_data: Buffer;
  attempts: number;
  correlation_id: string;
}

/** Permanent error of the server for this email or recipient. */
const isFinal = (error: unknown): boolean => {
  const { code, responseCode = 0 } = error as { code?: string; responseCode?: number };
  return (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode >= 550 && responseCode < 560;
};

/** Returns true if the mail server took it. */
async function sendOne({ db, config, log }: Services, send: Transport, mail: ClaimedMail): Promise<boolean> {
  const about = { mail_id: mail.mail_id, template: mail.template, attempts: mail.attempts };
  try {
    const data = JSON.parse(decryptField(config, 'mail', mail.mail_id, mail.sealed_data)) as unknown;
    await send({ ...renderMail(mail.template, data), mailId: mail.mail_id, to: mail.recipient });
  } catch (error) {
    // Not `instanceof`: socket errors may come from another realm.
    const words = String((error as { message?: unknown } | null)?.message ?? error).slice(0, 500);
    const final = isFinal(error);
    await run(db, final ? failStatement : postponeStatement, [mail.mail_id, words]);
    log.warn({ ...about, reason: words }, final ? 'a mail was refused permanently' : 'a mail was not sent, will try again');
    return false;
  }
  await run(db, sentStatement, [mail.mail_id]);
  log.info(about, 'a mail was sent');
  return true;
}

/** Sends one mail and exports its span. */
async function sendTraced(services: Services, tracer: Tracer, send: Transport, mail: ClaimedMail): Promise<void> {
  const { correlation_id, template, attempts } = mail;
  const span = tracer.begin(correlation_id, { name: `mail ${template}`, kind: 'client', parent: correlation_id });
  const isSent = await sendOne(services, send, mail);
  span?.end({ attempts }, !isSent);
}

/**
 * Sends due emails, codes and security emails first. No transaction is open between claim and confirmation; after a crash there, the email is sent again when its
 * lease ends, with the same Message-ID. Returns the number of attempts.
 */
export async function sendMails(services: Services, send: Transport): Promise<number> {
  for (const mail of await run<Record<string, unknown>>(services.db, expireStatement, []))
    services.log.warn(mail, 'a mail was given up');
  const claimed = await run<ClaimedMail>(services.db, claimStatement, [AT_LEISURE]);
  const { tracer } = services;
  await Promise.all(claimed.map((mail) => (tracer ? sendTraced(services, tracer, send, mail) : sendOne(services, send, mail))));
  return claimed.length;
}
