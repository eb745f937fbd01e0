import { type Row, type Sent, LIVE } from './row.js';
import type { Subject } from './subjects.js';

const decisions = (['approve', 'reject'] as const).flatMap((verb): Row[] => {
  const route = `POST /api/automations/runs/:run_id/${verb}`;
  const send = (s: Subject): Sent => ({ params: { run_id: s.id } });
  return [
    { route, by: 'a gate for members', subject: 'runForMember', author: 'colleague', kinds: LIVE, send },
    {
      route,
      by: 'a gate for managers',
      subject: 'runForManager',
      author: 'colleague',
      kinds: LIVE,
      send,
      lowest: 'manager',
      why: 'the gate names the role',
    },
    {
      route,
      by: 'a gate for admins',
      subject: 'runForAdmin',
      author: 'colleague',
      kinds: ['own'],
      send,
      lowest: 'admin',
      why: 'the gate names the role',
    },
    ...(
      [
        ['one created it', 'strictRunCreated'],
        ['one wrote its version', 'strictRunRewritten'],
        ['one started the run', 'strictRunStarted'],
      ] as const
    ).map(
      ([by, subject]): Row => ({
        route,
        by: `without self-approval, ${by}`,
        subject,
        author: 'caller',
        kinds: ['own'],
        send,
        ...(verb === 'approve' ? { lowest: 'nobody' as const } : {}),
        why: 'rejecting one’s own run only keeps things from happening',
      }),
    ),
    {
      route,
      by: 'without self-approval, all by another',
      subject: 'strictRunCreated',
      author: 'colleague',
      kinds: ['own'],
      send,
    },
    {
      route,
      by: 'a lapsed gate',
      subject: 'runForManagerLapsed',
      author: 'colleague',
      kinds: ['own'],
      send,
      lowest: 'manager',
      ...(verb === 'approve' ? { reference: { own: 410 } } : {}),
      why: 'past its time a gate can only be rejected',
    },
    {
      route,
      by: 'a run without an open gate',
      subject: 'run',
      author: 'colleague',
      kinds: ['own'],
      send,
      reference: { own: 409 },
      why: 'nothing to decide',
    },
    {
      route,
      by: 'another’s personal run',
      subject: 'personalRun',
      author: 'colleague',
      kinds: ['own'],
      send,
      lowest: 'nobody',
      why: 'its creator alone decides',
    },
    {
      route,
      by: 'one’s own personal run',
      subject: 'personalRun',
      author: 'caller',
      kinds: ['own'],
      send,
      lowest: 'none',
      why: 'its creator alone decides',
    },
  ];
});

const approvals: Row[] = [
  {
    route: 'GET /api/automations/approvals',
    subject: 'runForManager',
    kinds: ['own', 'foreign'],
    send: () => ({ query: { limit: '200' } }),
    list: true,
  },
  {
    route: 'GET /api/approvals',
    subject: 'runForManager',
    kinds: ['own', 'foreign'],
    send: () => ({ query: { limit: '100' } }),
    list: true,
  },
  {
    route: 'GET /api/approvals/decided',
    subject: 'decidedRun',
    kinds: ['own', 'foreign'],
    send: () => ({ query: { limit: '100' } }),
    list: true,
  },
  {
    route: 'GET /api/approvals/figures',
    subject: 'runForManager',
    kinds: ['own'],
    send: (s: Subject) => ({ query: { team_id: s.team_id } }),
    lowest: 'guest',
    why: 'the team that is named',
  },
  {
    route: 'GET /api/approvals/:kind/:id',
    subject: 'runForManager',
    kinds: LIVE,
    send: (s: Subject) => ({ params: { kind: 'gate', id: s.id } }),
  },
  {
    route: 'POST /api/approvals/decide',
    subject: 'runForManager',
    author: 'colleague',
    kinds: ['own'],
    send: (s: Subject) => ({
      body: { decision: 'approve', mode: 'all', items: [{ kind: 'gate', id: s.id, staged_hash: 'sha256:other' }] },
    }),
    lowest: 'manager',
    reference: { own: 409 },
    why: 'the gate names the role, and its text is another one',
  },
  ...decisions,
];

const RETRY = 'POST /api/automations/dead-letter/:run_id/retry';
const byRun = (s: Subject): Sent => ({ params: { run_id: s.id } });

const deadLetter: Row[] = [
  {
    route: 'GET /api/automations/dead-letter',
    by: 'nothing',
    subject: 'failedRun',
    kinds: ['own', 'foreign', 'trashed'],
    send: () => ({ query: { limit: '200' } }),
    list: true,
  },
  {
    route: 'GET /api/automations/dead-letter',
    by: 'team_id',
    subject: 'failedRun',
    names: 'team_id',
    kinds: LIVE,
    send: (s) => ({ query: { team_id: s.team_id } }),
    lowest: 'guest',
    outcome: { unknown: 403, garbage: 403, respelt: 403 },
    why: 'the contract has 403 for this filter; a team that is not there is one the caller is not in',
  },
  { route: RETRY, by: 'one’s own', subject: 'failedRun', author: 'caller', kinds: LIVE, send: byRun },
  {
    route: RETRY,
    by: 'another’s',
    subject: 'failedRun',
    author: 'colleague',
    kinds: LIVE,
    send: byRun,
    lowest: 'manager',
    why: 'another person’s automation needs a manager',
  },
  {
    route: RETRY,
    by: 'a deleted automation’s',
    subject: 'deletedFailedRun',
    author: 'caller',
    kinds: ['own'],
    send: byRun,
    reference: { own: 404 },
    why: 'no dead letter any more',
  },
  {
    route: RETRY,
    by: 'one that did not fail',
    subject: 'run',
    author: 'caller',
    kinds: ['own'],
    send: byRun,
    reference: { own: 404 },
    why: 'no dead letter',
  },
];

/** Decisions at gates, and failed runs. */
export const approvalCases: Row[] = [
  {
    route: 'GET /api/receipts/jwks',
    subject: 'nothing',
    kinds: ['own'],
    send: () => ({}),
    public: { own: 200 },
    why: 'public keys, for services without an account',
  },
  ...approvals,
  ...deadLetter,
];
