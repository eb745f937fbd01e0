import { type Endpoint, endpoint } from '../../endpoint/endpoint.js';
import { MessageResponse, Succeeded } from '../schema.js';
import { changePassword } from './change-password.js';
import { forgotPassword } from './forgot-password.js';
import { resetPassword } from './reset-password.js';
import { Change, Forgot, Reset } from './schema.js';

const tag = 'Passwords';
const new_password = 'battery staple correct';

export const passwordRoutes: Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/api/auth/password/forgot',
    tag,
    summary: 'Have a code mailed for a new password',
    description: 'Answers the same whether or not there is an account.',
    ability: 'public',
    limit: 'password_forgot',
    status: 202,
    body: Forgot,
    response: MessageResponse,
    example: { email: 'ada@demo.test' },
    handle: ({ ctx, body }) => forgotPassword(ctx, body),
  }),
  endpoint({
    method: 'post',
    path: '/api/auth/password/reset',
    tag,
    summary: 'Set a new password by the mailed code',
    description: 'Ends every session and every lock, and trusts no device any more. Two-factor sign-in and tokens stay.',
    ability: 'public',
    limit: 'password_reset',
    body: Reset,
    response: Succeeded,
    errors: [401],
    example: { email: 'ada@demo.test', code: '314159', new_password },
    handle: ({ ctx, body }) => resetPassword(ctx, body),
  }),
  endpoint({
    method: 'post',
    path: '/api/auth/password/change',
    tag,
    summary: 'Change my password',
    description: 'This session goes on; all others end, and no device is trusted any more.',
    ability: 'account.security',
    storable: false,
    body: Change,
    response: Succeeded,
    example: { current_password: 'correct horse battery', new_password },
    handle: ({ ctx, body }) => changePassword(ctx, body),
  }),
];
