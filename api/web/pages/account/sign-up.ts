import { z } from 'zod';
import { Code, NewPassword } from '../../../identity/auth/schema.js';
import { SignUpStart } from '../../../identity/auth/sign-up/schema.js';
import { startSignUp } from '../../../identity/auth/sign-up/start-sign-up.js';
import { verifySignUp } from '../../../identity/auth/sign-up/verify-sign-up.js';
import { type PageResult, page, type Page, type FormError, type PageRequest } from '../../page.js';
import type { Fields } from '../../server/read-form.js';

const showStart = (problem?: FormError, given: Fields = {}): Promise<PageResult> =>
  Promise.resolve({ view: 'account/sign-up', title: 'Sign up', data: { problem, given } });

function showCode({ step }: Pick<PageRequest, 'step'>, problem?: FormError): Promise<PageResult> {
  if (step?.kind !== 'sign-up') return Promise.resolve({ to: '/app/sign-up' });
  const said = problem && {
    ...problem,
    message: problem.status === 401 ? 'Incorrect or expired code.' : problem.message,
  };
  return Promise.resolve({
    view: 'account/sign-up-code',
    title: 'Check your email',
    data: { email: step.email, name: step.name, problem: said },
  });
}

/** Name and address, then the emailed code with a password. Only the email reveals that an address already has an account. */
export const signUpPages: Page[] = [
  page({ method: 'get', path: '/app/sign-up', access: 'visitor', handle: () => showStart() }),
  page({
    method: 'post',
    path: '/app/sign-up',
    access: 'visitor',
    limit: 'signup_start',
    form: SignUpStart,
    async handle({ ctx, form }) {
      await startSignUp(ctx, form);
      return { to: '/app/sign-up/code', step: { kind: 'sign-up', ...form } };
    },
    onError: ({ form }, problem) => showStart(problem, form),
  }),
  page({ method: 'get', path: '/app/sign-up/code', access: 'visitor', handle: (visit) => showCode(visit) }),
  page({
    method: 'post',
    path: '/app/sign-up/code',
    access: 'visitor',
    limit: 'signup_verify',
    form: z.object({ code: Code.min(1), password: NewPassword }),
    async handle({ ctx, form, step }) {
      if (step?.kind !== 'sign-up') {
        return { to: '/app/sign-up', notice: { kind: 'bad', text: 'Timed out. Please start again.' } };
      }
      const { email, name } = step;
      const { token, device_token } = await verifySignUp(ctx, { email, name, ...form });
      const notice = { kind: 'good', text: 'Welcome. Your account is ready.' } as const;
      return { to: '/app', signIn: token, deviceToken: device_token, notice };
    },
    onError: (visit, problem) => showCode(visit, problem),
  }),
];
