import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { getMe } from './get-me.js';
import { logIn } from './log-in.js';
import { Login, LoginResult, LoginStep, MeUpdate, MessageResponse, SignedIn, User } from './schema.js';
import { updateMe } from './update-me.js';
import { resendLoginCode, verifyLoginCode } from './verify-login-code.js';

const tag = 'Auth';
const dana = { email: 'dana@demo.test', password: 'demo-password' };

export const authRoutes: Endpoint[] = [
  endpoint({
    id: 'logIn',
    method: 'post',
    path: '/api/auth/login',
    tag,
    summary: 'Sign in with email and password',
    description: 'Returns a token, or a challenge without `token`: a two-factor code or an emailed code is then required.',
    ability: 'public',
    limit: 'login',
    body: Login,
    response: LoginResult,
    errors: [401],
    example: { email: 'ada@demo.test', password: 'demo-password' },
    handle: ({ ctx, body }) => logIn(ctx, body),
  }),
  endpoint({
    id: 'verifyLoginCode',
    method: 'post',
    path: '/api/auth/login-otp/verify',
    tag,
    summary: 'Verify a sign-in code',
    description:
      'Takes the emailed code. With `trust_device` the response has a `device_token`; the next login with it needs no code.',
    ability: 'public',
    limit: 'login_otp_verify',
    body: LoginStep,
    response: SignedIn,
    errors: [401],
    example: { ...dana, code: '314159', trust_device: true },
    handle: ({ ctx, body }) => verifyLoginCode(ctx, body),
  }),
  endpoint({
    id: 'resendLoginCode',
    method: 'post',
    path: '/api/auth/login-otp/resend',
    tag,
    summary: 'Resend the sign-in code',
    description: 'The previous code becomes invalid.',
    ability: 'public',
    limit: 'login_otp_resend',
    status: 202,
    body: Login,
    response: MessageResponse,
    errors: [401],
    example: dana,
    handle: ({ ctx, body }) => resendLoginCode(ctx, body),
  }),
  endpoint({
    id: 'getMe',
    method: 'get',
    path: '/api/auth/me',
    tag,
    summary: 'Get the current user',
    ability: 'account.read',
    response: User,
    handle: ({ ctx }) => getMe(ctx),
  }),
  endpoint({
    id: 'updateMe',
    method: 'patch',
    path: '/api/auth/me',
    tag,
    summary: 'Update the current user',
    ability: 'account.write',
    scope: 'admin:*',
    body: MeUpdate,
    response: User,
    errors: [404, 409],
    example: { display_name: 'Ada', preferences: { timezone: 'Europe/Berlin', week_start: 'monday' } },
    handle: ({ ctx, body }) => updateMe(ctx, body),
  }),
];
