import { type Endpoint, endpoint } from '../../endpoint/endpoint.js';
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
    method: 'post',
    path: '/api/auth/2fa/verify',
    tag,
    summary: 'Answer the two-factor challenge',
    description: 'With a code of the authenticator app, or one of the recovery codes. `device_token` comes with `trust_device`.',
    ability: 'public',
    limit: 'two_factor_verify',
    body: LoginStep,
    response: SignedIn,
    errors: [401],
    example: { email: 'tina@demo.test', password: 'demo-password', code: '314159', trust_device: true },
    handle: ({ ctx, body }) => verifyTwoFactor(ctx, body),
  }),
  endpoint({
    method: 'get',
    path: '/api/auth/2fa',
    tag,
    summary: 'Whether two-factor sign-in is on',
    ability: 'account.security',
    response: TwoFactor,
    handle: ({ ctx }) => getTwoFactor(ctx),
  }),
  endpoint({
    method: 'post',
    path: '/api/auth/2fa/enroll',
    tag,
    summary: 'Get a secret for an authenticator app',
    description: 'Two-factor sign-in is on only after `activate` has seen a code of the app.',
    ability: 'account.security',
    storable: false,
    body: Enrol,
    response: Enrolment,
    errors: [409],
    example: { password: 'correct horse battery' },
    handle: ({ ctx, body }) => enrollTwoFactor(ctx, body),
  }),
  endpoint({
    method: 'post',
    path: '/api/auth/2fa/activate',
    tag,
    summary: 'Turn two-factor sign-in on',
    description: 'The ten recovery codes are shown in this answer and never again.',
    ability: 'account.security',
    storable: false,
    body: Activate,
    response: Activated,
    errors: [409],
    example: { code: '314159' },
    handle: ({ ctx, body }) => activateTwoFactor(ctx, body),
  }),
  endpoint({
    method: 'post',
    path: '/api/auth/2fa/recovery-codes',
    tag,
    summary: 'Get ten new recovery codes',
    ability: 'account.security',
    storable: false,
    body: BothFactors,
    response: RecoveryCodes,
    example: proof,
    handle: ({ ctx, body }) => replaceRecoveryCodes(ctx, body),
  }),
  endpoint({
    method: 'post',
    path: '/api/auth/2fa/disable',
    tag,
    summary: 'Turn two-factor sign-in off',
    ability: 'account.security',
    storable: false,
    body: BothFactors,
    response: Disabled,
    example: proof,
    handle: ({ ctx, body }) => disableTwoFactor(ctx, body),
  }),
];
