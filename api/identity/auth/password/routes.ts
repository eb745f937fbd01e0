import { type Endpoint, endpoint } from '../../../platform/endpoint/endpoint.js';
import { MessageResponse, Succeeded } from '../schema.js';
import { changePassword } from './change-password.js';
import { forgotPassword } from './forgot-password.js';
import { resetPassword } from './reset-password.js';
import { Change, Forgot, Reset } from './schema.js';

const tag = 'Passwords';
const new_password = 'battery staple correct';

export const passwordRoutes: Endpoint[] = [
  endpoint({
    id: 'forgotPassword',
    method: 'post',
    path: '/api/auth/password/forgot',
    tag,
    summary: 'Request a password reset',
    description: 'Emails a code. The response is the same whether or not the account exists.',
    ability: 'public',
    limit: 'password_forgot',
    status: 202,
    body: Forgot,
    response: MessageResponse,
    example: { email: 'ada@demo.test' },
    handle: ({ ctx, body }) => forgotPassword(ctx, body),
  }),
  endpoint({
    id: 'resetPassword',
    method: 'post',
    path: '/api/auth/password/reset',
    tag,
    summary: 'Reset the password',
    description:
      'Uses the emailed code. Ends all sessions and locks, and revokes all trusted devices. Two-factor authentication and tokens stay.',
    ability: 'public',
    limit: 'password_reset',
    body: Reset,
    response: Succeeded,
    errors: [401],
    example: { email: 'ada@demo.test', code: '314159', new_password },
    handle: ({ ctx, body }) => resetPassword(ctx, body),
  }),
  endpoint({
    id: 'changePassword',
    method: 'post',
    path: '/api/auth/password/change',
    tag,
    summary: 'Change the password',
    description: 'Keeps the current session, ends all others, and revokes all trusted devices.',
    ability: 'account.security',
    storable: false,
    body: Change,
    response: Succeeded,
    example: { current_password: 'correct horse battery', new_password },
    handle: ({ ctx, body }) => changePassword(ctx, body),
  }),
];
