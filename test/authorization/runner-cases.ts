import { LIVE, type Row } from './row.js';

const ofJob = (route: string, body?: unknown): Row => ({
  route,
  subject: 'runnerJob',
  kinds: LIVE,
  send: (s) => ({ params: { job_id: s.id }, ...(body === undefined ? {} : { body }) }),
});
const ofTeam = (route: string, body: Record<string, unknown>): Row => ({
  route,
  subject: 'team',
  kinds: LIVE,
  send: (s) => ({ body: { team_id: s.id, ...body } }),
});
const buildListRow = (route: string, subject: 'runner' | 'runnerJob'): Row => ({
  route,
  subject,
  names: 'team_id',
  kinds: LIVE,
  send: (s) => ({ query: { team_id: s.team_id } }),
});
/** People never work for a runner, whatever the job. */
const byRunner = (route: string, body: unknown, subject: 'nothing' | 'runnerJob' = 'runnerJob'): Row => ({
  route,
  subject,
  kinds: ['own'],
  lowest: 'nobody',
  send: (s) => ({ ...(subject === 'nothing' ? {} : { params: { job_id: s.id } }), body }),
});

/** Runners and their jobs. */
export const runnerCases: Row[] = [
  buildListRow('GET /api/runners', 'runner'),
  ofTeam('POST /api/runners/registration-tokens', {}),
  {
    route: 'POST /api/runners/register',
    subject: 'nothing',
    kinds: ['own'],
    send: () => ({ body: { token: 'svc_reg_x', name: 'x', labels: [], version: '1' } }),
    public: { own: 401 },
    why: 'the registration token is the credential',
  },
  {
    route: 'DELETE /api/runners/:runner_id',
    subject: 'runner',
    kinds: LIVE,
    send: (s) => ({ params: { runner_id: s.id } }),
  },
  buildListRow('GET /api/runners/jobs', 'runnerJob'),
  ofTeam('POST /api/runners/jobs', { command: 'true', labels: [] }),
  ofJob('GET /api/runners/jobs/:job_id'),
  ofJob('GET /api/runners/jobs/:job_id/logs'),
  ofJob('POST /api/runners/jobs/:job_id/cancel'),
  byRunner('POST /api/runners/claim', { wait_seconds: 0 }, 'nothing'),
  byRunner('POST /api/runners/jobs/:job_id/heartbeat', {}),
  byRunner('POST /api/runners/jobs/:job_id/logs', { chunk: 'x', offset: 0 }),
  byRunner('POST /api/runners/jobs/:job_id/complete', { status: 'failed' }),
];
