import { type Endpoint, endpoint } from '../../../platform/endpoint/endpoint.js';
import { LoginStep, SignedIn } from '../schema.js';
import { activateTwoFactor } from './activate-two-factor.js';
import { disableTwoFactor } from './disable-two-factor.js';
import { enrollTwoFactor } from './enroll-two-factor.js';
import { getTwoFactor } from './get-two-factor.js';
import { replaceRecoveryCodes } from './replace-recovery-codes.js';
import { Activate, Activated, BothFactors, Disabled, Enrol, Enrolment, RecoveryCodes, TwoFactor } from './schema.js';
import { verifyTwoFactor } from './verify-two-factor.js';

const tag = 'Two-factor';
const proof = { password: 'correct horse battery', code: '314159' };

export const twoFactorRoutes: Endpoint[] = [
  endpoint({
    id: 'verifyTwoFactor',
    method: 'post',
    path: '/api/auth/2fa/verify',
    tag,
    summary: 'Verify a two-factor code',
    description:
      'Takes a code of the authenticator app or a recovery code. With `trust_device` the response has a `device_token`.',
    ability: 'public',
    limit: 'two_factor_verify',
    body: LoginStep,
    response: SignedIn,
    errors: [401],
    example: { email: 'tina@demo.test', password: 'demo-password', code: '314159', trust_device: true },
    handle: ({ ctx, body }) => verifyTwoFactor(ctx, body),
  }),
  endpoint({
    id: 'getTwoFactor',
    method: 'get',
    path: '/api/auth/2fa',
    tag,
    summary: 'Get two-factor status',
    ability: 'account.security',
    response: TwoFactor,
    handle: ({ ctx }) => getTwoFactor(ctx),
  }),
  endpoint({
    id: 'enrollTwoFactor',
    method: 'post',
    path: '/api/auth/2fa/enroll',
    tag,
    summary: 'Enroll an authenticator app',
    description: 'Two-factor authentication is enabled only after `activate` received a code of the app.',
    ability: 'account.security',
    storable: false,
    body: Enrol,
    response: Enrolment,
    errors: [409],
    example: { password: 'correct horse battery' },
    handle: ({ ctx, body }) => enrollTwoFactor(ctx, body),
  }),
  endpoint({
    id: 'activateTwoFactor',
    method: 'post',
    path: '/api/auth/2fa/activate',
    tag,
    summary: 'Activate two-factor authentication',
    description: 'Only this response contains the ten recovery codes.',
    ability: 'account.security',
    storable: false,
    body: Activate,
    response: Activated,
    errors: [409],
    example: { code: '314159' },
    handle: ({ ctx, body }) => activateTwoFactor(ctx, body),
  }),
  endpoint({
    id: 'replaceRecoveryCodes',
    method: 'post',
    path: '/api/auth/2fa/recovery-codes',
    tag,
    summary: 'Replace the recovery codes',
    ability: 'account.security',
    storable: false,
    body: BothFactors,
    response: RecoveryCodes,
    example: proof,
    handle: ({ ctx, body }) => replaceRecoveryCodes(ctx, body),
  }),
  endpoint({
    id: 'disableTwoFactor',
    method: 'post',
    path: '/api/auth/2fa/disable',
    tag,
    summary: 'Disable two-factor authentication',
    ability: 'account.security',
    storable: false,
    body: BothFactors,
    response: Disabled,
    example: proof,
    handle: ({ ctx, body }) => disableTwoFactor(ctx, body),
  }),
];
