import { type Endpoint, endpoint } from '../http/endpoint.js';
import { getMe } from './get-me.js';
import { logIn } from './log-in.js';
import { Login, LoginResult, User } from './schema.js';

const tag = 'Auth';

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
    method: 'get',
    path: '/api/auth/me',
    tag,
    summary: 'Who is asking',
    ability: 'account.read',
    response: User,
    handle: ({ ctx }) => getMe(ctx),
  }),
];
