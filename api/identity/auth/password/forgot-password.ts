import { webAddress } from '../../../platform/config.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { MAIL_ADDRESS } from '../../../platform/fields.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { queueMail } from '../../../platform/mail/queue-mail.js';
import { issueCode } from '../codes/one-time-code.js';
import { canonicalAddress, findAccount } from '../find-account.js';

/** The same for every address, so it does not reveal who has an account. */
const ANSWER = { message: 'If an account exists for this address, a code was emailed to it' };

/**
 * Emails a code for a new password; an address without an account is told so by email only. A code is created for any address, so
 * both take equal time.
 */
export async function forgotPassword(ctx: Context, { email }: { email: string }): Promise<{ message: string }> {
  const address = canonicalAddress(email);
  await inTransaction(ctx, async (ctx) => {
    const account = await findAccount(ctx, address);
    const code = await issueCode(ctx, 'password_reset', address);
    const { CODE_MINUTES: minutes } = ctx.config;
    if (code !== null && !account?.usable && MAIL_ADDRESS.test(address)) {
      const url = webAddress(ctx.config, '/app/sign-in');
      await queueMail(ctx, { to: address, template: 'password-unknown', data: { url }, usefulMinutes: minutes });
    } else if (code !== null && account?.usable) {
      const data = { name: account.name, code, minutes };
      await queueMail(ctx, { to: account.email, template: 'password-code', data, usefulMinutes: minutes });
    }
    await recordChange(ctx, {
      team_id: null,
      feature: 'auth',
      action: 'password_forgot',
      entity_type: 'user',
      entity_id: account?.user_id ?? null,
    });
  });
  return ANSWER;
}
