import { z } from 'zod';
import { unlock } from '../../../identity/auth/unlock.js';
import { type PageResult, page, type Page, type FormError } from '../../page.js';

const Token = z.string().max(200).catch('');

const show = (token: string, problem?: FormError): Promise<PageResult> =>
  Promise.resolve({ view: 'account/unlock', title: 'Unlock', data: { token, problem } });

/** Target of the lock email's link. Requires a button press, because mail scanners open links too (docs/decisions/identity.md#unlock-button). */
export const unlockPages: Page[] = [
  page({
    method: 'get',
    path: '/app/unlock',
    access: 'anyone',
    query: z.object({ token: Token }),
    handle: ({ query }) => show(query.token),
  }),
  page({
    method: 'post',
    path: '/app/unlock',
    access: 'anyone',
    form: z.object({ token: Token }),
    async handle({ ctx, form }) {
      await unlock(ctx, form.token);
      return { to: '/app/sign-in', notice: { kind: 'good', text: 'Unlocked. You can sign in again.' } };
    },
    onError: (_visit, problem) => show('', problem),
  }),
];
