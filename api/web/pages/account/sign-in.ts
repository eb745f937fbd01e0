import { z } from 'zod';
import { logIn } from '../../../identity/auth/log-in.js';
import { logOut } from '../../../identity/auth/sessions/end-session.js';
import { Email, Password } from '../../../identity/auth/schema.js';
import type { PageResult, Page, FormError } from '../../page.js';
import { page } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { safePath } from '../../server/safe-path.js';

/** Return address in URLs and forms; anything but a page of this app becomes the home page. */
const Next = z.unknown().optional().transform(safePath);

const show = (next: string, problem?: FormError, given: Fields = {}): PageResult => ({
  view: 'account/sign-in',
  title: 'Sign in',
  data: { next, problem, given },
});

export const signInPages: Page[] = [
  page({
    method: 'get',
    path: '/app/sign-in',
    access: 'visitor',
    query: z.object({ next: Next }),
    handle: ({ query }) => Promise.resolve(show(query.next)),
  }),
  page({
    method: 'post',
    path: '/app/sign-in',
    access: 'visitor',
    limit: 'login',
    form: z.object({ email: Email.min(1), password: Password.min(1), next: Next }),
    async handle({ ctx, form: { next, ...credentials }, deviceToken }) {
      const result = await logIn(ctx, { ...credentials, device_token: deviceToken });
      if ('token' in result) return { to: next, signIn: result.token };
      const kind = result.requires_2fa ? 'two-factor' : 'mailed-code';
      return { to: `/app/sign-in/${kind}`, step: { kind, ...credentials, next } };
    },
    onError: ({ form }, problem) => Promise.resolve(show(safePath(form['next']), problem, form)),
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
