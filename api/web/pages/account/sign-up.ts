import { z } from 'zod';
import { adoptTimeZone } from '../../../identity/auth/adopt-time-zone.js';
import { Code, NewPassword } from '../../../identity/auth/schema.js';
import { SignUpStart } from '../../../identity/auth/sign-up/schema.js';
import { startSignUp } from '../../../identity/auth/sign-up/start-sign-up.js';
import { verifySignUp } from '../../../identity/auth/sign-up/verify-sign-up.js';
import { type PageResult, page, type Page, type FormError, type PageRequest } from '../../page.js';
import type { Context } from '../../../platform/context.js';
import type { Fields } from '../../server/read-form.js';
import { safePath } from '../../server/safe-path.js';
import { BrowserZone, invitationIn, Next } from './arrival.js';

async function showStart(ctx: Context, next: string, problem?: FormError, given: Fields = {}): Promise<PageResult> {
  const invitation = await invitationIn(ctx, next);
  const prefilled = invitation?.email ? { email: invitation.email, ...given } : given;
  return { view: 'account/sign-up', title: 'Sign up', data: { next, problem, given: prefilled, invitation } };
}

async function showCode({ ctx, step }: Pick<PageRequest, 'ctx' | 'step'>, problem?: FormError): Promise<PageResult> {
  if (step?.kind !== 'sign-up') return { to: '/app/sign-up' };
  const said = problem && {
    ...problem,
    message: problem.status === 401 ? 'Incorrect or expired code.' : problem.message,
  };
  return {
    view: 'account/sign-up-code',
    title: 'Check your email',
    data: { email: step.email, name: step.name, next: step.next, problem: said, invitation: await invitationIn(ctx, step.next) },
  };
}

/** Name and address, then the emailed code with a password. Only the email reveals that an address already has an account. */
export const signUpPages: Page[] = [
  page({
    method: 'get',
    path: '/app/sign-up',
    access: 'visitor',
    query: z.object({ next: Next }),
    handle: ({ ctx, query }) => showStart(ctx, query.next),
  }),
  page({
    method: 'post',
    path: '/app/sign-up',
    access: 'visitor',
    limit: 'signup_start',
    form: SignUpStart.extend({ next: Next }),
    async handle({ ctx, form: { next, ...form } }) {
      await startSignUp(ctx, form);
      return { to: '/app/sign-up/code', step: { kind: 'sign-up', ...form, next } };
    },
    onError: ({ ctx, form }, problem) => showStart(ctx, safePath(form['next']), problem, form),
  }),
  page({ method: 'get', path: '/app/sign-up/code', access: 'visitor', handle: (visit) => showCode(visit) }),
  page({
    method: 'post',
    path: '/app/sign-up/code',
    access: 'visitor',
    limit: 'signup_verify',
    form: z.object({ code: Code.min(1), password: NewPassword, timezone: BrowserZone }),
    async handle({ ctx, form: { timezone, ...form }, step }) {
      if (step?.kind !== 'sign-up') {
        return { to: '/app/sign-up', notice: { kind: 'bad', text: 'Timed out. Please start again.' } };
      }
      const { email, name, next } = step;
      const { token, device_token, user } = await verifySignUp(ctx, { email, name, ...form });
      await adoptTimeZone(ctx, user.user_id, timezone);
      const notice = { kind: 'good', text: 'Welcome. Your account is ready.' } as const;
      return { to: next, signIn: token, deviceToken: device_token, notice };
    },
    onError: (visit, problem) => showCode(visit, problem),
  }),
];
