import { subscribe } from '../../../factories/events.js';
import { buildTeam, type TestTeam } from '../../../factories/people.js';
import { buildRunner, queueJob, type TestRunner } from '../../../factories/runners.js';
import { type Client, startApp, type TestApp } from '../../../support/app.js';
import { stopWaitingRunners } from '../../../../api/automation/runners/claim/job-listener.js';

/** Seconds, more than a test takes: what is said to have passed is taken from the rows. */
const [LEASE, CANCEL] = [60, 60];

let app: TestApp;
let team: TestTeam;
let runner: TestRunner;
let manager: Client;
let member: Client;

beforeAll(async () => {
  app = await startApp({ RUNNER_LEASE_SECONDS: `${LEASE}`, RUNNER_CANCEL_SECONDS: `${CANCEL}`, RUNNERS_PER_TEAM: '60' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await subscribe(app, team);
  runner = await buildRunner(app, team, ['linux', 'x64']);
  manager = app.as(team.manager);
  member = app.as(team.member);
});

const UNKNOWN = '019a9f00-0000-7000-8000-000000000001';
const claim = (calls: Client, wait_seconds = 0) => calls.post('/api/runners/claim', { wait_seconds });
const beat = (calls: Client, job_id: string) => calls.post(`/api/runners/jobs/${job_id}/heartbeat`, {});
const chunk = (calls: Client, job_id: string, text: string, offset: number) =>
  calls.post(`/api/runners/jobs/${job_id}/logs`, { chunk: text, offset });
const complete = (calls: Client, job_id: string, body: Record<string, unknown> = { status: 'succeeded', exit_code: 0 }) =>
  calls.post(`/api/runners/jobs/${job_id}/complete`, body);
const getJob = async (job_id: string) => (await member.get(`/api/runners/jobs/${job_id}`)).body;
const loadLog = async (job_id: string, offset = 0) =>
  (await member.get(`/api/runners/jobs/${job_id}/logs?offset=${offset}`)).body;
const db = () => app.services.db;
const passTime = (job_id: string, seconds: number, column = 'lease_until') =>
  db()('runner_jobs')
    .where({ job_id })
    .update({ [column]: db().raw(`${column} - make_interval(secs => ?)`, [seconds]) });
/** A job that the runner holds. */
async function held(fields: Record<string, unknown> = {}): Promise<string> {
  const job_id = await queueJob(app, team, fields);
  expect((await claim(runner.calls)).body).toMatchObject({ job_id });
  return job_id;
}

describe('registration', () => {
  const register = (token: string, fields: Record<string, unknown> = {}) =>
    app.as().post('/api/runners/register', { token, name: 'build', labels: [' Linux ', 'linux'], version: '1.2', ...fields });
  const requireToken = async () =>
    (await app.as(team.admin).post('/api/runners/registration-tokens', { team_id: team.team_id })).body.token as string;

  it('registers one runner with a token, and stores neither secret', async () => {
    const token = await requireToken();
    expect((await register(token, { labels: ['no blank'] })).status).toBe(422);
    const answers = await Promise.all([register(token), register(token), register(token)]);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(2);
    const made = answers.find(({ status }) => status === 201)?.body;
    expect(made).toMatchObject({ team_id: team.team_id, name: 'build', labels: ['linux'] });
    expect(made.runner_token).toMatch(/^svc_run_[\w-]{43}$/);
    expect((await claim(app.as(made.runner_token as string))).status).toBe(204);
    const rows = JSON.stringify([await db()('runners'), await db()('runner_registration_tokens'), await db()('audit_entries')]);
    expect(rows).not.toContain(token);
    expect(rows).not.toContain(made.runner_token);
    const listed = (await member.get(`/api/runners?team_id=${team.team_id}`)).body;
    expect(listed).toMatchObject([{ name: expect.any(String) }, { runner_id: made.runner_id, version: '1.2', job_id: null }]);
  });

  it('refuses a token after its hour, and one of an admin who is none any more', async () => {
    const [late, orphan] = [await requireToken(), await requireToken()];
    await db()('runner_registration_tokens').where({ team_id: team.team_id }).orderBy('expires_at').limit(1);
    await db()('runner_registration_tokens').update({ expires_at: db().raw("now() - interval '1 second'") });
    expect((await register(late)).status).toBe(401);
    await db()('runner_registration_tokens').update({ expires_at: db().raw("now() + interval '1 hour'") });
    const admin = { user_id: team.admin.user_id };
    await db()('users').where(admin).update({ status: 'suspended' });
    expect((await register(orphan)).status).toBe(401);
    await db()('users').where(admin).update({ status: 'active' });
    await db()('memberships').where(admin).update({ role: 'manager' });
    expect((await register(orphan)).status).toBe(401);
    expect((await register('svc_reg_x')).status).toBe(401);
  });

  it('gives a runner no other route, and people none of its own', async () => {
    const calls = runner.calls;
    expect((await calls.get('/api/auth/me')).status).toBe(401);
    expect((await calls.get(`/api/runners?team_id=${team.team_id}`)).status).toBe(401);
    expect((await calls.post('/api/runners/jobs', { team_id: team.team_id, command: 'x', labels: [] })).status).toBe(401);
    expect((await claim(app.as(team.admin))).status).toBe(403);
    expect((await claim(app.as(`svc_run_${'x'.repeat(43)}`))).status).toBe(401);
    expect((await claim(app.as())).status).toBe(401);
  });
});

describe('claims', () => {
  it('gives the oldest job of which the runner has all labels, once', async () => {
    await queueJob(app, team, { labels: ['gpu'] });
    const job_id = await queueJob(app, team, {
      labels: ['X64'],
      command: 'make "$A"',
      env: { A: '{{event.x}} $(id)' },
      timeout_minutes: 3,
    });
    const { status, body } = await claim(runner.calls);
    expect([status, body]).toEqual([
      200,
      {
        job_id,
        command: 'make "$A"',
        env: { A: '{{event.x}} $(id)' },
        masked: [],
        labels: ['x64'],
        timeout_seconds: 180,
        lease_seconds: LEASE,
        heartbeat_seconds: 15,
      },
    ]);
    const again = await claim(runner.calls);
    expect([again.status, again.body.job_id, again.body.job_status]).toEqual([409, job_id, 'claimed']);
    expect((await beat(runner.calls, job_id)).body).toMatchObject({ status: 'running', cancel: false });
    expect((await complete(runner.calls, job_id, { status: 'succeeded', exit_code: 0, output: 'done' })).body).toEqual({
      job_id,
      status: 'succeeded',
    });
    expect(await getJob(job_id)).toMatchObject({ status: 'succeeded', attempts: 1, exit_code: 0, output: 'done', error: null });
    expect((await claim(runner.calls)).status).toBe(204);
    const [event] = await db()('outbox').where({ kind: 'event', subject: 'runner.job_finished', team_id: team.team_id });
    expect(event.payload).toMatchObject({
      job: { job_id, status: 'succeeded' },
      changes: { status: { from: 'running', to: 'succeeded' } },
    });
    expect(event.cause_user_ids).toEqual([team.manager.user_id]);
  });

  it('queues a job once, however often its request is repeated', async () => {
    const request = { team_id: team.team_id, command: 'make deploy' };
    const key = { headers: { 'idempotency-key': 'deploy-1' } };
    const [first, again] = [
      await manager.post('/api/runners/jobs', request, key),
      await manager.post('/api/runners/jobs', request, key),
    ];
    expect([first.status, again.body]).toEqual([201, first.body]);
    expect(await db()('runner_jobs').where({ team_id: team.team_id })).toHaveLength(1);
  });

  it('gives each of 50 jobs to one of 50 runners that ask at once', async () => {
    const runners = await Promise.all(Array.from({ length: 50 }, () => buildRunner(app, team, ['race'])));
    const untilGiven = async ({ calls }: TestRunner) => {
      let answer = await claim(calls, 20);
      // A busy machine may take longer to queue the jobs.
      while (answer.status === 204) answer = await claim(calls, 20);
      return answer;
    };
    const waits = runners.map(untilGiven);
    const jobs = await Promise.all(Array.from({ length: 50 }, () => queueJob(app, team, { labels: ['race'] })));
    const answers = await Promise.all(waits);
    expect(answers.map(({ status }) => status)).toEqual(runners.map(() => 200));
    expect(new Set(answers.map(({ body }) => body.job_id))).toEqual(new Set(jobs));
  });

  it('lets two claims of one runner take one job of two', async () => {
    const jobs = [await queueJob(app, team), await queueJob(app, team)];
    const answers = await Promise.all([claim(runner.calls), claim(runner.calls), claim(runner.calls)]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await db()('runner_jobs').whereIn('job_id', jobs).where({ status: 'claimed' })).toHaveLength(1);
  });

  it('wakes a waiting runner of another process, and only one whose labels fit', async () => {
    const other = await buildRunner(app, team, ['gpu']);
    const unfit = claim(other.calls, 25);
    const fit = claim(runner.calls, 25);
    const job_id = await queueJob(app, team, { labels: ['x64'] });
    expect((await fit).body).toMatchObject({ job_id });
    const next = await queueJob(app, team, { labels: ['gpu'] });
    expect((await unfit).body).toMatchObject({ job_id: next });
  });

  it('gives no job to a runner that has hung up', async () => {
    const gone = await buildRunner(app, team, ['linux']);
    const hangUp = new AbortController();
    const headers = { authorization: `Bearer ${gone.token}`, 'content-type': 'application/json' };
    const waiting = fetch(`${app.url}/api/runners/claim`, { method: 'POST', headers, body: '{}', signal: hangUp.signal });
    const hasSeen = async () => (await db()('runners').where({ runner_id: gone.runner_id }).first()).last_seen_at;
    for (let seen = await hasSeen(); !seen; ) seen = await hasSeen();
    hangUp.abort();
    await waiting.catch(() => undefined);
    const fit = claim(runner.calls, 25);
    const job_id = await queueJob(app, team, { labels: ['linux'] });
    expect((await fit).body).toMatchObject({ job_id });
    expect(await getJob(job_id)).toMatchObject({ runner_id: runner.runner_id });
  });

  it('stores the version of a program that was replaced, also without a job', async () => {
    expect((await runner.calls.post('/api/runners/claim', { wait_seconds: 0, version: '9.9' })).status).toBe(204);
    await claim(runner.calls);
    expect((await member.get(`/api/runners?team_id=${team.team_id}`)).body).toMatchObject([{ version: '9.9' }]);
  });

  it('answers the older of two waiting claims, and all of them when the process stops', async () => {
    const older = claim(runner.calls, 25);
    // The newer one replaces the older one, whichever arrives first.
    const newer = claim(runner.calls, 25);
    expect((await Promise.race([older, newer])).status).toBe(204);
    stopWaitingRunners();
    expect([(await older).status, (await newer).status]).toEqual([204, 204]);
  });
});

describe('reports', () => {
  it('refuses reports by anyone but the holder, and repeats the answer to a repeated end', async () => {
    const job_id = await held();
    const stranger = await buildRunner(app, team);
    const foreign = await buildRunner(app, await buildTeam(app));
    for (const send of [beat, (calls: Client, id: string) => chunk(calls, id, 'x', 0), complete]) {
      expect((await send(stranger.calls, job_id)).status).toBe(409);
      expect((await send(foreign.calls, job_id)).status).toBe(404);
      expect((await send(runner.calls, UNKNOWN)).status).toBe(404);
    }
    const ends = await Promise.all([complete(runner.calls, job_id), complete(runner.calls, job_id)]);
    expect(ends.map(({ status, body }) => [status, body.status])).toEqual([
      [200, 'succeeded'],
      [200, 'succeeded'],
    ]);
    expect((await complete(runner.calls, job_id, { status: 'failed' })).body).toMatchObject({ job_status: 'succeeded' });
    expect((await beat(runner.calls, job_id)).status).toBe(409);
    expect((await chunk(runner.calls, job_id, 'x', 0)).status).toBe(409);
    expect(await db()('audit_entries').where({ entity_id: job_id, action: 'complete' })).toHaveLength(1);
  });

  it('loses a job whose lease has expired, whichever process notices first', async () => {
    for (const notice of [beat, complete, (calls: Client, id: string) => chunk(calls, id, 'x', 0)]) {
      const job_id = await held();
      await passTime(job_id, LEASE + 1);
      const late = await notice(runner.calls, job_id);
      expect([late.status, late.body.job_status]).toEqual([409, 'lost']);
      expect(await getJob(job_id)).toMatchObject({ status: 'lost', attempts: 1, runner_id: runner.runner_id });
    }
    const job_id = await held();
    await passTime(job_id, LEASE + 1);
    const next = await queueJob(app, team);
    expect((await claim(runner.calls)).body).toMatchObject({ job_id: next });
    expect(await getJob(job_id)).toMatchObject({ status: 'lost', error: expect.stringContaining('stopped reporting') });
  });

  it('tells a late command to stop, and calls its failure a time-out', async () => {
    const job_id = await held({ timeout_minutes: 1 });
    expect((await beat(runner.calls, job_id)).body).toMatchObject({ cancel: false });
    await passTime(job_id, 60, 'claimed_at');
    expect((await beat(runner.calls, job_id)).body).toMatchObject({ cancel: true });
    expect((await complete(runner.calls, job_id, { status: 'failed', exit_code: 143 })).body).toEqual({
      job_id,
      status: 'timed_out',
    });
    const ignored = await held({ timeout_minutes: 1 });
    await passTime(ignored, 60 + CANCEL + 1, 'claimed_at');
    expect((await beat(runner.calls, ignored)).body).toMatchObject({ job_status: 'timed_out' });
  });

  it('cancels a job that waits at once, and one that runs with the help of its runner', async () => {
    const waiting = await queueJob(app, team, { labels: ['none'] });
    expect((await member.post(`/api/runners/jobs/${waiting}/cancel`)).status).toBe(403);
    expect((await manager.post(`/api/runners/jobs/${waiting}/cancel`)).body).toMatchObject({ status: 'cancelled', attempts: 0 });
    expect((await manager.post(`/api/runners/jobs/${waiting}/cancel`)).status).toBe(409);
    const job_id = await held();
    const asked = await Promise.all([1, 2].map(() => manager.post(`/api/runners/jobs/${job_id}/cancel`)));
    expect(asked.map(({ status, body }) => [status, body.cancel_requested])).toEqual([
      [200, true],
      [200, true],
    ]);
    expect((await chunk(runner.calls, job_id, 'x', 0)).body).toMatchObject({ cancel: true });
    expect((await complete(runner.calls, job_id, { status: 'failed' })).body).toEqual({ job_id, status: 'cancelled' });
    const binary = await held();
    // A command may have written anything: what its runner sends of it must not keep the job from its end.
    await complete(runner.calls, binary, { status: 'succeeded', output: 'a\0\ud800' });
    expect(await getJob(binary)).toMatchObject({ status: 'succeeded', output: 'a\ufffd\ufffd' });
    const stubborn = await held();
    await manager.post(`/api/runners/jobs/${stubborn}/cancel`);
    await passTime(stubborn, CANCEL, 'cancel_requested_at');
    expect((await beat(runner.calls, stubborn)).body).toMatchObject({ job_status: 'cancelled' });
    expect((await complete(runner.calls, stubborn, { status: 'failed' })).status).toBe(409);
  });
});

describe('logs', () => {
  it('takes chunks in order, repeated ones once, and no gap', async () => {
    const job_id = await held();
    expect((await chunk(runner.calls, job_id, 'häl', 0)).body).toEqual({ next_offset: 4, truncated: false, cancel: false });
    const same = await Promise.all([1, 2, 3].map(() => chunk(runner.calls, job_id, 'lo\0\n', 4)));
    expect(same.map(({ status, body }) => [status, body.next_offset])).toEqual([1, 2, 3].map(() => [200, 8]));
    for (const offset of [5, 9]) {
      const gap = await chunk(runner.calls, job_id, '123456', offset);
      expect([gap.status, gap.body.expected_offset]).toEqual([409, 8]);
    }
    expect((await chunk(runner.calls, job_id, 'x'.repeat(65_537), 8)).status).toBe(422);
    expect((await chunk(runner.calls, job_id, '', 8)).status).toBe(422);
    expect(await loadLog(job_id)).toMatchObject({ text: 'hällo\ufffd\n', offset: 0, complete: false });
    expect(await loadLog(job_id, 2)).toMatchObject({ text: 'ällo\ufffd\n', offset: 1 });
    await complete(runner.calls, job_id);
    expect(await loadLog(job_id, 6)).toMatchObject({ offset: 6, text: '\ufffd\n', next_offset: 10, size: 10, complete: true });
    expect(await loadLog(job_id, 99_999)).toMatchObject({ offset: 10, text: '', next_offset: 10, complete: true });
  });

  it('keeps 5 MB of a flood', async () => {
    const job_id = await held();
    const text = 'é'.repeat(32_768);
    const most = 5 * 1024 * 1024;
    await db()('runner_jobs')
      .where({ job_id })
      .update({ log_size: most - 70_000 });
    expect((await chunk(runner.calls, job_id, text, 0)).body).toMatchObject({ next_offset: 65_536, truncated: false });
    for (const _again of [1, 2]) {
      const cut = await chunk(runner.calls, job_id, text, 65_536);
      expect([cut.status, cut.body]).toEqual([200, { next_offset: 131_072, truncated: true, cancel: false }]);
    }
    expect((await chunk(runner.calls, job_id, text, 131_072)).status).toBe(413);
    expect((await beat(runner.calls, job_id)).status).toBe(200);
    const page = await loadLog(job_id, most - 70_000);
    expect(page.text).toMatch(/^é{35000}\n\[The log is longer than 5 MB; the rest is not kept.\]\n$/);
    expect(page).toMatchObject({ truncated: true, size: page.next_offset });
  });
});

it('lists jobs newest first, by status and cursor', async () => {
  const [first, second, third] = [await queueJob(app, team), await queueJob(app, team), await queueJob(app, team)];
  await manager.post(`/api/runners/jobs/${second}/cancel`);
  const list = async (query: string) =>
    (await member.get(`/api/runners/jobs?team_id=${team.team_id}&${query}`)).body.map(({ job_id }: { job_id: string }) => job_id);
  expect(await list('')).toEqual([third, second, first]);
  expect(await list('status=queued')).toEqual([third, first]);
  expect(await list(`limit=1&before=${third}`)).toEqual([second]);
  expect((await member.get(`/api/runners/jobs?team_id=${team.team_id}&status=gone`)).status).toBe(422);
  const page = await member.get(`/api/runners/jobs?team_id=${team.team_id}&limit=1`);
  expect(page.headers.get('link')).toContain(`before=${third}`);
});

describe('ends of other things', () => {
  it('deletes a runner with its token, and loses its job', async () => {
    const job_id = await held();
    expect((await app.as(team.manager).delete(`/api/runners/${runner.runner_id}`)).status).toBe(403);
    expect((await app.as(team.admin).delete(`/api/runners/${runner.runner_id}`)).body).toEqual({
      success: true,
      runner_id: runner.runner_id,
    });
    expect((await beat(runner.calls, job_id)).status).toBe(401);
    expect(await getJob(job_id)).toMatchObject({ status: 'lost', runner_id: runner.runner_id });
    expect((await app.as(team.admin).delete(`/api/runners/${runner.runner_id}`)).status).toBe(404);
  });

  it('deletes runners and jobs with their team', async () => {
    const job_id = await held();
    await chunk(runner.calls, job_id, 'x', 0);
    expect((await app.as(team.admin).delete(`/api/teams/${team.team_id}`)).status).toBe(200);
    expect((await beat(runner.calls, job_id)).status).toBe(401);
    expect(await db()('runner_jobs').where({ team_id: team.team_id })).toEqual([]);
    expect(await db()('runner_job_logs').where({ job_id })).toEqual([]);
  });

  it('fails the jobs of someone who may not queue them any more', async () => {
    const job_id = await queueJob(app, team);
    await db()('memberships').where({ user_id: team.manager.user_id }).update({ role: 'member' });
    expect((await claim(runner.calls)).status).toBe(204);
    expect(await getJob(job_id)).toMatchObject({ status: 'failed', attempts: 0, runner_id: null });
  });

  it('rejects secrets in manually queued jobs, and hostile variables', async () => {
    const queue = (fields: Record<string, unknown>) =>
      manager.post('/api/runners/jobs', { team_id: team.team_id, command: 'x', labels: [], ...fields });
    expect((await queue({ env: { A: '{{secret:KEY}}' } })).status).toBe(400);
    expect((await queue({ command: 'echo {{ secret:KEY }}' })).status).toBe(400);
    const hostile = [{ 'A=B': '' }, { '1A': '' }, { assent_job_id: 'x' }, { A: 'a\0b' }, { A: 'x'.repeat(65_537) }];
    for (const env of hostile) expect((await queue({ env })).status).toBe(422);
    for (const fields of [
      { command: ' ' },
      { timeout_minutes: 361 },
      { timeout_minutes: 0 },
      { labels: ['a b'] },
      { labels: 'x' },
    ]) {
      expect((await queue(fields)).status).toBe(422);
    }
  });
});

describe('automations with jobs', () => {
  const action = (params: Record<string, unknown> = {}) => ({
    type: 'dispatch_runner_job',
    params: { command: 'true', ...params },
  });
  const save = (client: Client, actions: object[], more: object = { team_id: team.team_id }) =>
    client.post('/api/automations', { name: 'Job', trigger_type: 'manual', actions, ...more });
  const withSecret = action({ env: { A: '{{secret:KEY}}' } });

  it('need a manager, and with a secret an admin, to be saved, started, tested, taken over or restored', async () => {
    expect((await save(member, [action()])).status).toBe(403);
    expect((await save(manager, [withSecret])).status).toBe(403);
    expect((await save(app.as(team.admin), [withSecret])).status).toBe(201);
    const path = `/api/automations/${(await save(manager, [action()])).body.automation_id}`;
    for (const client of [member, manager]) {
      const allowed = client === manager;
      const status = async (answer: Promise<{ status: number }>) => (await answer).status < 300 === allowed;
      expect(await status(client.patch(path, { name: 'Other' }))).toBe(true);
      expect(await status(client.post(`${path}/execute`, {}))).toBe(true);
      expect(await status(client.post(`${path}/test`, {}))).toBe(true);
    }
    // A member's own automation that a manager gave a job.
    const own = (await save(member, [])).body.automation_id as string;
    expect((await manager.patch(`/api/automations/${own}`, { actions: [action()] })).status).toBe(200);
    for (const route of ['execute', 'test']) expect((await member.post(`/api/automations/${own}/${route}`, {})).status).toBe(403);
    expect((await member.patch(`/api/automations/${own}`, { name: 'Mine' })).status).toBe(403);
    expect((await manager.patch(`/api/automations/${own}`, { actions: [] })).status).toBe(200);
    expect((await member.post(`/api/automations/${own}/rollback`, { version: 2 })).status).toBe(403);
    const secret = (await save(app.as(team.admin), [withSecret])).body.automation_id as string;
    expect((await manager.post(`/api/automations/${secret}/take-over`, {})).status).toBe(403);
  });

  it.each([
    ['a template in the command', { command: 'echo {{event.task.title}}' }, /command/],
    ['a secret in the command', { command: 'curl -H {{secret:KEY}}' }, /command/],
    ['a template as label', { labels: ['{{event.task.title}}'] }, /labels/],
    ['a hostile variable', { env: { 'A B': 'x' } }, /env/],
    ['a reserved variable', { env: { ASSENT_OUTPUT: 'x' } }, /ASSENT_/],
    ['too long a time', { timeout_minutes: 361 }, /timeout_minutes/],
  ])('refuse %s', async (_what, params, message) => {
    const { status, body } = await save(app.as(team.admin), [action(params)]);
    expect([status, body.message]).toEqual([400, expect.stringMatching(message)]);
  });

  it('are not for personal automations, which have no runners', async () => {
    expect((await save(app.as(team.admin), [action()], {})).status).toBe(400);
  });
});
