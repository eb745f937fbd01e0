import { createTransport } from 'nodemailer';
import type { Config } from '../config.js';
import type { Transport } from './send-mails.js';

/** Maximum waits for connection, greeting and silence, ms; together below the lease of an email. */
const LIMITS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 };

/** Returns the mail server of MAIL_URL (`smtp://host:port`, `smtps://user:password@host`), or undefined. */
export function smtpTransport({ MAIL_URL, MAIL_FROM }: Config): { send: Transport; close: () => void } | undefined {
  if (MAIL_URL === undefined) return undefined;
  const transporter = createTransport({ url: MAIL_URL, pool: true, maxConnections: 5, ...LIMITS });
  const domain = /@([^\s>]+)/.exec(MAIL_FROM)?.[1] ?? 'localhost';
  return {
    async send({ mailId, to, subject, text, html }) {
      const headers = { 'Auto-Submitted': 'auto-generated' };
      // An object, so that no part of the address is parsed as a second recipient.
      const receiver = { name: '', address: to };
      await transporter.sendMail({
        messageId: `<${mailId}@${domain}>`,
        from: MAIL_FROM,
        to: receiver,
        subject,
        text,
        html,
        headers,
        disableFileAccess: true,
        disableUrlAccess: true,
      });
    },
    close: () => transporter.close(),
  };
}
