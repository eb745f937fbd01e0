import { webAddress } from '../../../platform/config.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { queueMail } from '../../../platform/mail/queue-mail.js';
import { issueCode } from '../codes/one-time-code.js';
import { findAccount } from '../find-account.js';
import type { SignUpStart } from './schema.js';

/** The same for every address, so it does not reveal who has an account. */
const ANSWER = { message: 'An email was sent to this address' };

/** Emails a code to a new address; an address that has an account is told so by email only. */
export async function startSignUp(ctx: Context, { email }: Pick<SignUpStart, 'email'>): Promise<{ message: string }> {
  await inTransaction(ctx, async (ctx) => {
    const account = await findAccount(ctx, email);
    const code = await issueCode(ctx, 'sign_up', email);
    const { CODE_MINUTES: minutes } = ctx.config;
    // One statement for both emails, so both take equal time.
    const mail = { to: email, usefulMinutes: minutes };
    const url = webAddress(ctx.config, '/app/sign-in');
    if (code !== null && account) await queueMail(ctx, { ...mail, template: 'sign-up-known', data: { url } });
    if (code !== null && !account) await queueMail(ctx, { ...mail, template: 'sign-up-code', data: { code, minutes } });
    const entity = { entity_type: 'user' as const, entity_id: account?.user_id ?? null };
    await recordChange(ctx, { team_id: null, feature: 'auth', action: 'sign_up_start', ...entity });
  });
  return ANSWER;
}
