import { run } from '../../../db/statement.js';
import { webAddress } from '../../platform/config.js';
import { inTransaction, type Services, serviceContext } from '../../platform/context.js';
import { claimNoticesStatement } from './mail-notices.sql.js';
import { wordSubject } from './rules.js';
import { queueMail } from '../../platform/mail/queue-mail.js';

interface Due extends Record<string, unknown> {
  email: string;
  name: string;
  messages: string[];
  total: number;
}

/**
 * Queues one email for each person with notices that they have not read in time. Safe to repeat and to run in several workers. Returns the number of
 * emails.
 */
export async function mailNotices(services: Services): Promise<number> {
  return inTransaction(serviceContext(services, 'mail'), async (ctx) => {
    const url = webAddress(ctx.config, '/app/notifications');
    const due = (await run<Due>(ctx.db, claimNoticesStatement, [])).filter(({ total }) => total > 0);
    for (const { email, name, messages, total } of due) {
      const only = total === 1 && messages[0] !== undefined ? { subject: wordSubject(messages[0]) } : {};
      await queueMail(ctx, {
        to: email,
        template: 'notices',
        data: { name, total, messages, url, ...only },
        usefulMinutes: 24 * 60,
      });
    }
    return due.length;
  });
}
