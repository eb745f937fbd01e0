import { run } from '../../../db/statement.js';
import { webAddress } from '../../platform/config.js';
import { type Context, inTransaction, type Services, serviceContext } from '../../platform/context.js';
import { queueMail } from '../../platform/mail/queue-mail.js';
import { BATCH, claimTokenNoticesStatement } from './mail-expiring-tokens.sql.js';

interface Due extends Record<string, unknown> {
  name: string;
  prefix: string;
  expires_at: Date;
  email: string;
  display_name: string;
}

async function mailNotice(ctx: Context, { name: token, prefix, expires_at, email, display_name }: Due): Promise<void> {
  const at = `${expires_at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const data = { name: display_name, token, prefix, at, url: webAddress(ctx.config, '/app/account/tokens') };
  await queueMail(ctx, { to: email, template: 'token-expires', data });
}

/** Emails the owners of tokens that expire soon (docs/decisions/identity.md#token-notices). Safe to repeat. Returns the number of emails. */
export async function mailExpiringTokens(services: Services): Promise<number> {
  for (let mailed = 0; ; ) {
    const due = await inTransaction(serviceContext(services, 'tokens'), async (ctx) => {
      const rows = await run<Due>(ctx.db, claimTokenNoticesStatement, []);
      for (const row of rows) await mailNotice(ctx, row);
      return rows.length;
    });
    mailed += due;
    if (due < BATCH) return mailed;
  }
}
