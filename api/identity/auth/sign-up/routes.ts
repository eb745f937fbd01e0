import { type Endpoint, endpoint } from '../../../platform/endpoint/endpoint.js';
import { MessageResponse, SignedIn } from '../schema.js';
import { SignUpStart, SignUpVerify } from './schema.js';
import { startSignUp } from './start-sign-up.js';
import { verifySignUp } from './verify-sign-up.js';

const tag = 'Sign-up';

/** Routes of the web app; the API has no registration, so the document omits them. */
export const signUpRoutes: Endpoint[] = [
  endpoint({
    id: 'startSignUp',
    method: 'post',
    path: '/app/signup/start',
    tag,
    summary: 'Start a sign-up',
    ability: 'public',
    limit: 'signup_start',
    status: 202,
    body: SignUpStart,
    response: MessageResponse,
    handle: ({ ctx, body }) => startSignUp(ctx, body),
  }),
  endpoint({
    id: 'verifySignUp',
    method: 'post',
    path: '/app/signup/verify',
    tag,
    summary: 'Complete a sign-up',
    ability: 'public',
    limit: 'signup_verify',
    status: 201,
    body: SignUpVerify,
    response: SignedIn,
    errors: [401, 409],
    handle: ({ ctx, body }) => verifySignUp(ctx, body),
  }),
];
