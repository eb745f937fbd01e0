import { z } from 'zod';
import { unlock } from '../auth/unlock.js';
import { type Answer, page, type Page, type Problem } from './page.js';

const Token = z.string().max(200).catch('');

const show = (token: string, problem?: Problem): Promise<Answer> =>
  Promise.resolve({ view: 'unlock', title: 'Unlock', data: { token, problem } });

/** The link of the mail about a lock. It takes a button to end the lock: mail scanners open links too (A6). */
export const unlockPages: Page[] = [
  page({
    method: 'get',
    path: '/app/unlock',
    who: 'anyone',
    query: z.object({ token: Token }),
    handle: ({ query }) => show(query.token),
  }),
  page({
    method: 'post',
    path: '/app/unlock',
    who: 'anyone',
    form: z.object({ token: Token }),
    async handle({ ctx, form }) {
      await unlock(ctx, form.token);
      return { to: '/app/sign-in', notice: { kind: 'good', text: 'Unlocked. You can sign in again.' } };
    },
    again: (_visit, problem) => show('', problem),
  }),
];
