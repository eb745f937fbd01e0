import { type Kind, type Row, TRASHABLE } from './row.js';

const auth: Row[] = [
  {
    route: 'POST /api/auth/login',
    subject: 'account',
    kinds: ['own', 'unknown', 'garbage'],
    send: (s) => ({ body: { email: s.id, password: s.canary } }),
    public: { own: 200, unknown: 401, garbage: 401 },
    leaves: 'the audit entry of a refused sign-in',
  },
  { route: 'GET /api/auth/me', subject: 'nothing', kinds: ['own'], send: () => ({}) },
];

const tokens: Row[] = [
  {
    route: 'POST /api/auth/tokens',
    subject: 'nothing',
    kinds: ['own'],
    send: () => ({ body: { name: 'CI', scopes: ['tasks:read'] } }),
  },
  { route: 'GET /api/auth/tokens', subject: 'nothing', kinds: ['own'], send: () => ({}) },
  { route: 'GET /api/auth/tokens/scopes', subject: 'nothing', kinds: ['own'], send: () => ({}) },
  {
    route: 'DELETE /api/auth/tokens/:token_id',
    subject: 'personalToken',
    author: 'caller',
    kinds: ['own', 'unknown', 'garbage', 'respelt'],
    send: (s) => ({ params: { token_id: s.id } }),
  },
  {
    route: 'DELETE /api/auth/tokens/:token_id',
    by: 'somebody else',
    subject: 'personalToken',
    author: 'colleague',
    kinds: ['own'],
    send: (s) => ({ params: { token_id: s.id } }),
    outcome: { own: 404 },
    why: 'another person’s token is none',
  },
];

const PERSON: Kind[] = ['own', 'unknown', 'garbage', 'respelt'];
const admin: Row[] = [
  { route: 'GET /api/admin/users', subject: 'nothing', kinds: ['own'], send: () => ({}) },
  {
    route: 'POST /api/admin/users/:user_id/suspend',
    subject: 'outsider',
    kinds: PERSON,
    send: (s) => ({ params: { user_id: s.id }, body: { reason: 'Lost laptop' } }),
  },
  {
    route: 'POST /api/admin/users/:user_id/reinstate',
    subject: 'suspended',
    kinds: PERSON,
    send: (s) => ({ params: { user_id: s.id } }),
  },
  {
    route: 'POST /api/admin/users/:user_id/unlock',
    subject: 'locked',
    kinds: PERSON,
    send: (s) => ({ params: { user_id: s.id } }),
  },
  {
    route: 'POST /api/admin/users/:user_id/deprovision',
    subject: 'outsider',
    kinds: PERSON,
    send: (s) => ({ params: { user_id: s.id }, body: { reason: 'Left the company' } }),
  },
  {
    route: 'GET /api/admin/deprovisions/:job_id',
    subject: 'deprovisionJob',
    kinds: PERSON,
    send: (s) => ({ params: { job_id: s.id } }),
  },
  {
    route: 'PUT /api/admin/teams/:team_id/plan',
    subject: 'spareTeam',
    kinds: TRASHABLE,
    send: (s) => ({ params: { team_id: s.id }, body: { plan: 'team' } }),
    instanceAdmin: true,
  },
  {
    route: 'POST /api/admin/impersonate',
    subject: 'outsider',
    kinds: PERSON,
    send: (s) => ({ body: { user_id: s.id, reason: 'Ticket 4711: cannot see it' } }),
  },
  {
    route: 'POST /api/admin/impersonate/stop',
    subject: 'nothing',
    kinds: ['own'],
    send: () => ({}),
    outcome: { own: 409 },
    sparesImpersonator: 'test/api/identity/admin/impersonation.test.ts',
    why: 'the others act as nobody else',
  },
];

/** Signing in, access tokens, the instance’s admins. */
export const signInCases: Row[] = [...auth, ...tokens, ...admin];
