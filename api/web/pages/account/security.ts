import { toString as drawQr } from 'qrcode';
import { z } from 'zod';
import { changePassword } from '../../../identity/auth/password/change-password.js';
import { Code, NewPassword, Password } from '../../../identity/auth/schema.js';
import { activateTwoFactor } from '../../../identity/auth/two-factor/activate-two-factor.js';
import { disableTwoFactor } from '../../../identity/auth/two-factor/disable-two-factor.js';
import { enrollTwoFactor } from '../../../identity/auth/two-factor/enroll-two-factor.js';
import { getTwoFactor } from '../../../identity/auth/two-factor/get-two-factor.js';
import { replaceRecoveryCodes } from '../../../identity/auth/two-factor/replace-recovery-codes.js';
import { page, type Page, type FormError, type View, type PageRequest } from '../../page.js';

const PATH = '/app/account/security';
const Both = z.object({ password: Password.min(1), code: Code.min(1) });

/** `form` names the rejected form. */
async function show({ ctx }: Pick<PageRequest, 'ctx'>, form?: string, problem?: FormError): Promise<View> {
  return { view: 'account/security', title: 'Security', data: { twoFactor: await getTwoFactor(ctx), form, problem } };
}

/** Secret and URL of a pending enrollment, shown again beside a wrong code from the form's own fields. */
const Enrolment = z.object({
  secret: z.string().regex(/^[A-Z2-7]{16,64}$/),
  otpauth_url: z.string().startsWith('otpauth://totp/').max(500),
});

async function showEnrolment({ secret, otpauth_url }: z.output<typeof Enrolment>, problem?: FormError): Promise<View> {
  const qr = await drawQr(otpauth_url, { type: 'svg', margin: 2 });
  const data = { qr, secret, otpauth_url, groups: secret.match(/.{1,4}/g), problem };
  return { view: 'account/two-factor-enroll', title: 'Two-factor authentication', data };
}

/** Shown in this answer and in no other: only their hashes are kept. */
const showCodes = (codes: string[]): View => ({ view: 'account/recovery-codes', title: 'Recovery codes', data: { codes } });

const twoFactorForms: Page[] = [
  page({
    method: 'post',
    path: `${PATH}/two-factor`,
    access: 'account.security',
    form: z.object({ password: Password.min(1) }),
    handle: async ({ ctx, form }) => showEnrolment(await enrollTwoFactor(ctx, form)),
    onError: (visit, problem) => show(visit, 'enroll', problem),
  }),
  page({
    method: 'post',
    path: `${PATH}/two-factor/activate`,
    access: 'account.security',
    form: z.object({ code: Code.min(1) }),
    handle: async ({ ctx, form }) => showCodes((await activateTwoFactor(ctx, form)).recovery_codes),
    async onError(visit, problem) {
      const enrolment = Enrolment.safeParse(visit.form).data;
      return enrolment && problem.status !== 409 ? showEnrolment(enrolment, problem) : show(visit, 'enroll', problem);
    },
  }),
  page({
    method: 'post',
    path: `${PATH}/two-factor/codes`,
    access: 'account.security',
    form: Both,
    handle: async ({ ctx, form }) => showCodes((await replaceRecoveryCodes(ctx, form)).recovery_codes),
    onError: (visit, problem) => show(visit, 'codes', problem),
  }),
  page({
    method: 'post',
    path: `${PATH}/two-factor/disable`,
    access: 'account.security',
    form: Both,
    async handle({ ctx, form }) {
      await disableTwoFactor(ctx, form);
      return { to: PATH, notice: { kind: 'good', text: 'Two-factor authentication disabled.' } };
    },
    onError: (visit, problem) => show(visit, 'disable', problem),
  }),
];

export const securityPages: Page[] = [
  page({ method: 'get', path: PATH, access: 'account.security', handle: (visit) => show(visit) }),
  page({
    method: 'post',
    path: `${PATH}/password`,
    access: 'account.security',
    form: z.object({ current_password: Password.min(1), new_password: NewPassword }),
    async handle({ ctx, form }) {
      await changePassword(ctx, form);
      return { to: PATH, notice: { kind: 'good', text: 'Password changed. All other sessions ended.' } };
    },
    onError: (visit, problem) => show(visit, 'password', problem),
  }),
  ...twoFactorForms,
];
