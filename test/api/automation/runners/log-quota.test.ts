import { deleteOldJobs } from '../../../../api/automation/runners/jobs/delete-old-jobs.js';
import { buildTeam, type TestTeam } from '../../../factories/people.js';
import { buildRunner, queueJob, type TestRunner } from '../../../factories/runners.js';
import { type Client, startApp, type TestApp } from '../../../support/app.js';

// The logs of a team share a quota.

let app: TestApp;
let team: TestTeam;
let runner: TestRunner;

beforeAll(async () => {
  app = await startApp({ RUNNER_LOG_MB_PER_TEAM: '6' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  runner = await buildRunner(app, team);
});

const db = () => app.services.db;
const claim = (calls: Client) => calls.post('/api/runners/claim', { wait_seconds: 0 });
const chunk = (calls: Client, job_id: string, text: string, offset: number) =>
  calls.post(`/api/runners/jobs/${job_id}/logs`, { chunk: text, offset });
const complete = (calls: Client, job_id: string) =>
  calls.post(`/api/runners/jobs/${job_id}/complete`, { status: 'succeeded', exit_code: 0 });
const getJob = async (job_id: string) => (await app.as(team.member).get(`/api/runners/jobs/${job_id}`)).body;
const loadLog = async (job_id: string) => (await app.as(team.member).get(`/api/runners/jobs/${job_id}/logs`)).body;
/** A job that the runner holds. */
async function held(): Promise<string> {
  const job_id = await queueJob(app, team);
  expect((await claim(runner.calls)).body).toMatchObject({ job_id });
  return job_id;
}

// In blocks of 16 kB.
const QUOTA = 6 * 64;
const text = 'x'.repeat(40_000);
const toRow = (job_id: string) => db()('runner_jobs').where({ job_id }).first();
const usage = async () => Number((await db()('runner_log_usage').where({ team_id: team.team_id }).first())?.blocks ?? 0);
const counted = async () =>
  Number((await db()('runner_jobs').where({ team_id: team.team_id }).sum({ sum: 'log_blocks' }).first())?.['sum']);
/** Counts a log as if it had this many blocks. */
const grow = async (job_id: string, log_blocks: number) => {
  await db()('runner_jobs').where({ job_id }).update({ log_blocks });
  await db()('runner_log_usage')
    .where({ team_id: team.team_id })
    .update({ blocks: await counted() });
};
const endedWithLog = async (log_blocks: number) => {
  const job_id = await held();
  await chunk(runner.calls, job_id, 'old', 0);
  await complete(runner.calls, job_id);
  await grow(job_id, log_blocks);
  return job_id;
};

it('deletes the logs of the jobs that ended first, and no more than it needs', async () => {
  const ended = [await endedWithLog(1), await endedWithLog(1), await endedWithLog(380)] as const;
  const job_id = await held();
  expect((await chunk(runner.calls, job_id, 'y', 0)).status).toBe(200);
  expect([await usage(), (await toRow(ended[0])).is_log_deleted]).toEqual([383, false]);
  expect((await chunk(runner.calls, job_id, text, 1)).body).toMatchObject({ next_offset: 40_001, truncated: false });
  expect([await usage(), await counted()]).toEqual([384, 384]);
  expect(await loadLog(ended[0])).toEqual({
    job_id: ended[0],
    offset: 0,
    text: '',
    next_offset: 0,
    size: 0,
    truncated: false,
    deleted: true,
    complete: true,
  });
  expect(await loadLog(ended[1])).toMatchObject({ text: 'old', deleted: false });
  expect(await db()('runner_job_logs').where({ job_id: ended[0] })).toEqual([]);
  expect(await getJob(ended[0])).toMatchObject({ status: 'succeeded', log_size: 0 });
  await db()('runner_jobs')
    .whereIn('job_id', ended)
    .update({ finished_at: db().raw("now() - interval '1 year'") });
  await deleteOldJobs(app.services);
  expect([await usage(), await counted()]).toEqual([3, 3]);
});

it('drops the rest of a log when open jobs fill it, and says so in the log', async () => {
  const job_id = await held();
  await chunk(runner.calls, job_id, 'begin', 0);
  await grow(job_id, QUOTA);
  const other = await buildRunner(app, team);
  const late = await queueJob(app, team);
  await claim(other.calls);
  expect((await chunk(other.calls, late, 'lost', 0)).body).toEqual({ next_offset: 4, truncated: true, cancel: false });
  expect((await chunk(other.calls, late, 'more', 4)).status).toBe(413);
  expect((await complete(other.calls, late)).body).toMatchObject({ status: 'succeeded' });
  expect((await loadLog(late)).text).toMatch(/^\n\[Logs of running jobs fill the quota of the team; .*\]\n$/);
  expect([await usage(), await counted()]).toEqual([QUOTA, QUOTA]);
});

it('holds when jobs write, end and are deleted at once', async () => {
  const ended: string[] = [];
  for (let at = 0; at < 8; at += 1) ended.push(await endedWithLog(QUOTA / 8));
  const writers = await Promise.all([1, 2, 3, 4, 5, 6].map(() => buildRunner(app, team)));
  const jobs = await Promise.all(
    writers.map(async ({ calls }) => {
      await queueJob(app, team);
      return { calls, job_id: (await claim(calls)).body.job_id as string };
    }),
  );
  await db()('runner_jobs')
    .whereIn('job_id', ended.slice(4))
    .update({ finished_at: db().raw("now() - interval '1 year'") });
  const write = async ({ calls, job_id }: (typeof jobs)[number]) => {
    for (let offset = 0; offset < 5 * text.length; offset += text.length) {
      expect((await chunk(calls, job_id, text, offset)).body).toMatchObject({ truncated: false });
    }
    return complete(calls, job_id);
  };
  await Promise.all([...jobs.map(write), deleteOldJobs(app.services), deleteOldJobs(app.services)]);
  expect(await usage()).toBe(await counted());
  expect(await usage()).toBeLessThanOrEqual(QUOTA);
  for (const { job_id } of jobs) expect(await loadLog(job_id)).toMatchObject({ size: 5 * text.length, deleted: false });
});

it('leaves the ended jobs of a deleted team to batches of a bounded size', async () => {
  const ended = [await endedWithLog(1), await endedWithLog(1)];
  const open = await held();
  await chunk(runner.calls, open, 'open', 0);
  // Each of these fills a batch by itself.
  for (const job_id of ended) await grow(job_id, 4_000);
  expect((await app.as(team.admin).delete(`/api/teams/${team.team_id}`)).status).toBe(200);
  expect((await app.as(team.admin).get(`/api/runners/jobs/${ended[0]}/logs`)).status).toBe(403);
  expect([await toRow(open), await usage(), await counted()]).toEqual([undefined, 8_000, 8_000]);
  expect(await deleteOldJobs(app.services)).toBeGreaterThanOrEqual(2);
  expect(await db()('runner_jobs').where({ team_id: team.team_id })).toEqual([]);
  expect(await db()('runner_job_logs').whereIn('job_id', [...ended, open])).toEqual([]);
  expect(await usage()).toBe(0);
});
