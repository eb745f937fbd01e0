import { type Endpoint, endpoint } from '../endpoint/endpoint.js';
import { getMe } from './get-me.js';
import { logIn } from './log-in.js';
import { Login, LoginResult, LoginStep, MeUpdate, MessageResponse, SignedIn, User } from './schema.js';
import { updateMe } from './update-me.js';
import { resendLoginCode, verifyLoginCode } from './verify-login-code.js';

const tag = 'Auth';
const dana = { email: 'dana@demo.test', password: 'demo-password' };

export const authRoutes: Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/api/auth/login',
    tag,
    summary: 'Sign in with mail address and password',
    description: 'Answers with a token, or with a challenge that has none: look for `token`.',
    ability: 'public',
    limit: 'login',
    body: Login,
    response: LoginResult,
    errors: [401],
    example: { email: 'ada@demo.test', password: 'demo-password' },
    handle: ({ ctx, body }) => logIn(ctx, body),
  }),
  endpoint({
    method: 'post',
    path: '/api/auth/login-otp/verify',
    tag,
    summary: 'Answer the challenge of an untrusted device',
    description: 'With the mailed code. `device_token` comes with `trust_device`: sent with the next login it spares the code.',
    ability: 'public',
    limit: 'login_otp_verify',
    body: LoginStep,
    response: SignedIn,
    errors: [401],
    example: { ...dana, code: '314159', trust_device: true },
    handle: ({ ctx, body }) => verifyLoginCode(ctx, body),
  }),
  endpoint({
    method: 'post',
    path: '/api/auth/login-otp/resend',
    tag,
    summary: 'Have another sign-in code mailed',
    description: 'The code before it is void.',
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
    method: 'get',
    path: '/api/auth/me',
    tag,
    summary: 'Who is asking',
    ability: 'account.read',
    response: User,
    handle: ({ ctx }) => getMe(ctx),
  }),
  endpoint({
    method: 'patch',
    path: '/api/auth/me',
    tag,
    summary: 'Change my profile and preferences',
    ability: 'account.write',
    scope: 'admin:*',
    body: MeUpdate,
    response: User,
    errors: [404, 409],
    example: { display_name: 'Ada', preferences: { timezone: 'Europe/Berlin', week_start: 'monday' } },
    handle: ({ ctx, body }) => updateMe(ctx, body),
  }),
];
