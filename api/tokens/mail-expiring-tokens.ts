import { run, type Statement } from '../../db/statement.js';
import { webAddress } from '../core/config.js';
import { type Context, inTransaction, type Services, serviceContext } from '../core/context.js';
import { queueMail } from '../mail/queue-mail.js';

/** Owners notified per transaction. */
const BATCH = 100;

interface Due extends Record<string, unknown> {
  name: string;
  prefix: string;
  expires_at: Date;
  email: string;
  display_name: string;
}

/**
 * Selects tokens that expire within 7 days, or within one, and were not notified yet. The row stores the last notice, so each is
 * sent once. A token created with a shorter lifetime than the notice needs none.
 */
const claimStatement: Statement = {
  name: 'claim_token_notices',
  text: /* sql */ `
    with due as (
      select t.token_id, n.days, u.email, u.display_name
      from personal_access_tokens t join users u using (user_id)
        cross join lateral (select case when t.expires_at <= now() + interval '1 day' then 1 else 7 end as days) n
      where t.revoked_at is null and t.expires_at > now() and t.expires_at <= now() + interval '7 days'
        and t.expires_at - t.created_at > make_interval(days => n.days) and coalesce(t.expiry_notice_days > n.days, true)
        and u.status = 'active'
      order by t.expires_at limit ${BATCH} for update of t skip locked
    )
    update personal_access_tokens t set expiry_notice_days = due.days from due where t.token_id = due.token_id
    returning t.name, t.prefix, t.expires_at, due.email, due.display_name`,
};

async function mailNotice(ctx: Context, { name: token, prefix, expires_at, email, display_name }: Due): Promise<void> {
  const at = `${expires_at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const data = { name: display_name, token, prefix, at, url: webAddress(ctx.config, '/app/account/tokens') };
  await queueMail(ctx, { to: email, template: 'token-expires', data });
}

/** Emails the owners of tokens that expire soon (docs/decisions.md#token-notices). Safe to repeat. Returns the number of emails. */
export async function mailExpiringTokens(services: Services): Promise<number> {
  for (let mailed = 0; ; ) {
    const due = await inTransaction(serviceContext(services, 'tokens'), async (ctx) => {
      const rows = await run<Due>(ctx.db, claimStatement, []);
      for (const row of rows) await mailNotice(ctx, row);
      return rows.length;
    });
    mailed += due;
    if (due < BATCH) return mailed;
  }
}
