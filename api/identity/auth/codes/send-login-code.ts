import { type Context, inTransaction } from '../../../platform/context.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { queueMail } from '../../../platform/mail/queue-mail.js';
import type { Account } from '../find-account.js';
import { issueCode } from './one-time-code.js';

/** Emails the code that an untrusted device needs, in one commit with its audit entry. Sends nothing beyond the hourly limit. */
export function sendLoginCode(ctx: Context, account: Account): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    const code = await issueCode(ctx, 'login', account.email);
    if (code !== null) {
      const { CODE_MINUTES: minutes } = ctx.config;
      const from = { ip: ctx.ip ?? 'an unknown address', device: ctx.userAgent ?? 'an unknown device' };
      const data = { name: account.name, code, minutes, ...from };
      await queueMail(ctx, { to: account.email, template: 'login-code', data, usefulMinutes: minutes });
    }
    await recordChange(ctx, {
      team_id: null,
      feature: 'auth',
      action: code === null ? 'login_code_withheld' : 'login_code_sent',
      entity_type: 'user',
      entity_id: account.user_id,
    });
  });
}
