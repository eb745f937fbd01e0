import { z } from 'zod';
import { logIn } from '../auth/log-in.js';
import type { Answer, Page, Problem } from './page.js';
import { page } from './page.js';
import type { Fields } from './server/read-form.js';
import { safePath } from './server/safe-path.js';

/** Asked for in addresses and forms; whatever is no page of ours becomes the home page. */
const Next = z.unknown().optional().transform(safePath);

const show = (next: string, problem?: Problem, given: Fields = {}): Answer => ({
  view: 'sign-in',
  title: 'Sign in',
  data: { next, problem, given },
});

export const signInPages: Page[] = [
  page({
    method: 'get',
    path: '/app/sign-in',
    who: 'visitor',
    query: z.object({ next: Next }),
    handle: ({ query }) => Promise.resolve(show(query.next)),
  }),
  page({
    method: 'post',
    path: '/app/sign-in',
    who: 'visitor',
    limit: 'login',
    form: z.object({
      email: z.string().min(1, 'Your mail address').max(320),
      password: z.string().min(1, 'Your password').max(1024),
      next: Next,
    }),
    async handle({ ctx, form }) {
      const result = await logIn(ctx, { email: form.email, password: form.password });
      if ('token' in result) return { to: form.next, signIn: result.token };
      return { to: '/app/sign-in', notice: { kind: 'bad', text: 'This account needs a second step.' } };
    },
    again: ({ form }, problem) => Promise.resolve(show(safePath(form['next']), problem, form)),
  }),
  page({
    method: 'post',
    path: '/app/sign-out',
    who: 'account.read',
    handle: () => Promise.resolve({ to: '/app/sign-in', signOut: true, notice: { kind: 'good', text: 'You are signed out.' } }),
  }),
];
