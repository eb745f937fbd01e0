import { z } from 'zod';
import { adoptTimeZone } from '../../../identity/auth/adopt-time-zone.js';
import { logIn } from '../../../identity/auth/log-in.js';
import { logOut } from '../../../identity/auth/sessions/end-session.js';
import { Email, Password } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import type { PageResult, Page, FormError } from '../../page.js';
import { page } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { safePath } from '../../server/safe-path.js';
import { BrowserZone, invitationIn, Next } from './arrival.js';

async function show(ctx: Context, next: string, problem?: FormError, given: Fields = {}): Promise<PageResult> {
  const invitation = await invitationIn(ctx, next);
  const prefilled = invitation?.email ? { email: invitation.email, ...given } : given;
  return { view: 'account/sign-in', title: 'Sign in', data: { next, problem, given: prefilled, invitation } };
}

export const signInPages: Page[] = [
  page({
    method: 'get',
    path: '/app/sign-in',
    access: 'visitor',
    query: z.object({ next: Next }),
    handle: ({ ctx, query }) => show(ctx, query.next),
  }),
  page({
    method: 'post',
    path: '/app/sign-in',
    access: 'visitor',
    limit: 'login',
    form: z.object({ email: Email.min(1), password: Password.min(1), next: Next, timezone: BrowserZone }),
    async handle({ ctx, form: { next, timezone, ...credentials }, deviceToken }) {
      const result = await logIn(ctx, { ...credentials, device_token: deviceToken });
      if ('token' in result) {
        await adoptTimeZone(ctx, result.user.user_id, timezone);
        return { to: next, signIn: result.token };
      }
      const kind = result.requires_2fa ? 'two-factor' : 'mailed-code';
      return { to: `/app/sign-in/${kind}`, step: { kind, ...credentials, next, timezone } };
    },
    onError: ({ ctx, form }, problem) => show(ctx, safePath(form['next']), problem, form),
  }),
  page({
    method: 'post',
    path: '/app/sign-out',
    access: 'account.leave',
    async handle({ ctx }) {
      await logOut(ctx);
      return { to: '/app/sign-in', signOut: true, notice: { kind: 'good', text: 'You are signed out.' } };
    },
  }),
];
