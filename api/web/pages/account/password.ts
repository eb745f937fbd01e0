import { z } from 'zod';
import { forgotPassword } from '../../../identity/auth/password/forgot-password.js';
import { resetPassword } from '../../../identity/auth/password/reset-password.js';
import { Code, Email, NewPassword } from '../../../identity/auth/schema.js';
import { type PageResult, page, type Page, type FormError, type PageRequest } from '../../page.js';
import type { Fields } from '../../server/read-form.js';

const showForgot = (problem?: FormError, given: Fields = {}): Promise<PageResult> =>
  Promise.resolve({ view: 'account/password-forgot', title: 'Forgot your password?', data: { problem, given } });

function showReset({ step }: Pick<PageRequest, 'step'>, problem?: FormError, given: Fields = {}): Promise<PageResult> {
  const email = step?.kind === 'reset' ? step.email : '';
  const said = problem && {
    ...problem,
    message: problem.status === 401 ? 'Incorrect or expired code.' : problem.message,
  };
  return Promise.resolve({ view: 'account/password-reset', title: 'New password', data: { email, problem: said, given } });
}

/** For users who forgot their password or never had one, signed in or not. */
export const passwordPages: Page[] = [
  page({ method: 'get', path: '/app/password/forgotten', access: 'anyone', handle: () => showForgot() }),
  page({
    method: 'post',
    path: '/app/password/forgotten',
    access: 'anyone',
    limit: 'password_forgot',
    form: z.object({ email: Email.min(1) }),
    async handle({ ctx, form }) {
      await forgotPassword(ctx, form);
      return { to: '/app/password/reset', step: { kind: 'reset', email: form.email } };
    },
    onError: ({ form }, problem) => showForgot(problem, form),
  }),
  page({ method: 'get', path: '/app/password/reset', access: 'anyone', handle: (visit) => showReset(visit) }),
  page({
    method: 'post',
    path: '/app/password/reset',
    access: 'anyone',
    limit: 'password_reset',
    form: z.object({ email: Email.min(1), code: Code.min(1), new_password: NewPassword }),
    async handle({ ctx, form }) {
      await resetPassword(ctx, form);
      const text = 'Password reset. Please sign in.';
      return { to: '/app/sign-in', signOut: true, notice: { kind: 'good', text } };
    },
    onError: (visit, problem) => showReset(visit, problem, visit.form),
  }),
];
