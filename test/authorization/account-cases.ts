import { PASSWORD } from './account-subjects.js';
import type { Row } from './row.js';
import type { Subject } from './subjects.js';

/** Their steps end well once: each call has a subject of its own. */
const step = (route: string, subject: Row['subject'], body: (s: Subject) => object, success: number): Row => ({
  route,
  subject,
  kinds: ['own', 'unknown', 'garbage'],
  send: (s) => ({ body: body(s) }),
  public: { own: success, unknown: 401, garbage: 401 },
  once: true,
  leaves: 'the audit entry of a refused try, and its count',
});

const SPARED = 'test/api/identity/auth/sessions.test.ts';
const NEW_PASSWORD = 'battery staple correct horse';
const LIVE: Row['kinds'] = ['own', 'unknown', 'garbage', 'respelt'];

/** Operations on one's own account: the subject's user calls them, so no caller of the matrix is signed out. */
const own = (route: string, subject: Row['subject'], body?: (s: Subject) => object): Row => ({
  route,
  subject,
  kinds: ['own'],
  send: (s) => (body ? { body: body(s) } : {}),
});

export const accounts: Row[] = [
  step('POST /api/auth/login-otp/verify', 'loginCode', (s) => ({ email: s.id, password: PASSWORD, code: s.canary }), 200),
  step('POST /api/auth/login-otp/resend', 'loginCode', (s) => ({ email: s.id, password: PASSWORD }), 202),
  step('POST /api/auth/2fa/verify', 'twoFactorAccount', (s) => ({ email: s.id, password: PASSWORD, code: s.canary }), 200),
  step('POST /api/auth/password/reset', 'resetCode', (s) => ({ email: s.id, code: s.canary, new_password: NEW_PASSWORD }), 200),
  {
    route: 'POST /api/auth/password/forgot',
    subject: 'account',
    kinds: ['own', 'unknown', 'garbage'],
    send: (s) => ({ body: { email: s.id } }),
    public: { own: 202, unknown: 202, garbage: 202 },
    why: 'the same answer to everybody',
  },
  own('PATCH /api/auth/me', 'nothing', () => ({ display_name: 'Another' })),
  own('GET /api/auth/2fa', 'self'),
  own('POST /api/auth/2fa/enroll', 'self', () => ({ password: PASSWORD })),
  own('POST /api/auth/2fa/activate', 'enrollingSelf', (s) => ({ code: s.canary })),
  own('POST /api/auth/2fa/recovery-codes', 'twoFactorSelf', (s) => ({ password: PASSWORD, code: s.canary })),
  own('POST /api/auth/2fa/disable', 'twoFactorSelf', (s) => ({ password: PASSWORD, code: s.canary })),
  own('POST /api/auth/password/change', 'self', () => ({ current_password: PASSWORD, new_password: NEW_PASSWORD })),
  own('POST /api/auth/refresh', 'ownSession'),
  { ...own('POST /api/auth/logout', 'ownSession'), sparesImpersonator: SPARED },
  own('GET /api/auth/sessions', 'nothing'),
  own('GET /api/auth/devices', 'nothing'),
  ...(['session', 'device'] as const).flatMap((what): Row[] => {
    const route = `DELETE /api/auth/${what}s/:${what}_id`;
    const send = (s: Subject) => ({ params: { [`${what}_id`]: s.id } });
    return [
      {
        route,
        by: 'one’s own',
        subject: what === 'session' ? 'ownSession' : 'ownDevice',
        kinds: LIVE,
        send,
      },
      {
        route,
        by: 'another’s',
        subject: what === 'session' ? 'anothersSession' : 'anothersDevice',
        kinds: ['own'],
        send,
        outcome: { own: 404 },
        why: 'another person’s is none',
      },
    ];
  }),
];
