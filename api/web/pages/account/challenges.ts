import { z } from 'zod';
import { adoptTimeZone } from '../../../identity/auth/adopt-time-zone.js';
import { Code, type SignedIn } from '../../../identity/auth/schema.js';
import { verifyTwoFactor } from '../../../identity/auth/two-factor/verify-two-factor.js';
import { resendLoginCode, verifyLoginCode } from '../../../identity/auth/verify-login-code.js';
import { type PageResult, page, type Page, type FormError, type PageRequest } from '../../page.js';
import type { Step } from '../../server/sign-in-step.js';

type Challenge = Extract<Step, { password: string }>;
type Kind = Challenge['kind'];

/** Result without a password step, or after its expiry: sign in again. */
const RESTART_SIGN_IN: PageResult = {
  to: '/app/sign-in',
  notice: { kind: 'bad', text: 'Timed out. Please sign in again.' },
};

const getStep = (step: Step | null, kind: Kind): Challenge | null => (step?.kind === kind ? (step as Challenge) : null);

function show(kind: Kind, { step }: Pick<PageRequest, 'step'>, problem?: FormError): Promise<PageResult> {
  const challenge = getStep(step, kind);
  if (!challenge) return Promise.resolve({ to: '/app/sign-in' });
  const said = problem && {
    ...problem,
    message: problem.status === 401 ? 'Incorrect or expired code.' : problem.message,
  };
  const title = kind === 'two-factor' ? 'Two-factor authentication' : 'Check your email';
  return Promise.resolve({ view: `account/${kind}`, title, data: { email: challenge.email, problem: said } });
}

async function answer(
  { ctx, step, deviceToken }: Pick<PageRequest, 'ctx' | 'step' | 'deviceToken'>,
  kind: Kind,
  verify: (credentials: { email: string; password: string; device_token: string | undefined }) => Promise<SignedIn>,
): Promise<PageResult> {
  const challenge = getStep(step, kind);
  if (!challenge) return RESTART_SIGN_IN;
  const { email, password, next, timezone } = challenge;
  const signedIn = await verify({ email, password, device_token: deviceToken });
  await adoptTimeZone(ctx, signedIn.user.user_id, timezone);
  return { to: next, signIn: signedIn.token, deviceToken: signedIn.device_token };
}

export const challengePages: Page[] = [
  page({
    method: 'get',
    path: '/app/sign-in/two-factor',
    access: 'visitor',
    handle: (visit) => show('two-factor', visit),
  }),
  page({
    method: 'post',
    path: '/app/sign-in/two-factor',
    access: 'visitor',
    limit: 'two_factor_verify',
    form: z.object({ code: Code.min(1) }),
    handle: ({ ctx, form, ...visit }) =>
      answer({ ctx, ...visit }, 'two-factor', (credentials) =>
        verifyTwoFactor(ctx, { ...credentials, code: form.code, trust_device: false }),
      ),
    onError: (visit, problem) => show('two-factor', visit, problem),
  }),
  page({
    method: 'get',
    path: '/app/sign-in/mailed-code',
    access: 'visitor',
    handle: (visit) => show('mailed-code', visit),
  }),
  page({
    method: 'post',
    path: '/app/sign-in/mailed-code',
    access: 'visitor',
    limit: 'login_otp_verify',
    form: z.object({ code: Code.min(1), trust_device: z.literal('on').optional() }),
    handle: ({ ctx, form, ...visit }) =>
      answer({ ctx, ...visit }, 'mailed-code', (credentials) =>
        verifyLoginCode(ctx, { ...credentials, code: form.code, trust_device: form.trust_device === 'on' }),
      ),
    onError: (visit, problem) => show('mailed-code', visit, problem),
  }),
  page({
    method: 'post',
    path: '/app/sign-in/mailed-code/resend',
    access: 'visitor',
    limit: 'login_otp_resend',
    async handle({ ctx, step, deviceToken }) {
      const challenge = getStep(step, 'mailed-code');
      if (!challenge) return RESTART_SIGN_IN;
      const { email, password } = challenge;
      await resendLoginCode(ctx, { email, password, device_token: deviceToken });
      const text = 'New code sent; the previous one is invalid.';
      return { to: '/app/sign-in/mailed-code', notice: { kind: 'good', text } };
    },
    onError: (visit, problem) => show('mailed-code', visit, problem),
  }),
];
