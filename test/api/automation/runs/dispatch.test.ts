import { performAction } from '../../../../api/automation/runs/execution/perform-action.js';
import { buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { buildRun } from '../../../factories/runs.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

const db = () => app.services.db;
const comment = (content: string) => ({ type: 'add_comment', params: { task_id: 't', content } });
async function make(fields: Record<string, unknown> = {}, person: Person = team.member) {
  const body = { name: 'By hand', trigger_type: 'manual', team_id: team.team_id, actions: [comment('one')], ...fields };
  const made = await app.as(person).post('/api/automations', body);
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return made.body as { automation_id: string };
}
const call = (person: Person, { automation_id }: { automation_id: string }, verb: string, body?: object, options?: object) =>
  app.as(person).post(`/api/automations/${automation_id}/${verb}`, body, options);
const record = async (automation: { automation_id: string }) =>
  (await app.as(team.guest).get(`/api/automations/${automation.automation_id}`)).body;
const orders = (runId: string) => db()('outbox').where({ subject: runId });

describe('POST /api/automations/{id}/execute', () => {
  it('202 with a queued run of the creator, for the event that was given, and who set it off', async () => {
    const automation = await make();
    const given = { task: { task_id: 't-1' }, actor_id: 'forged', team_id: 'forged', type: 'task.created' };
    const { status, body } = await call(team.manager, automation, 'execute', { event: given });
    expect({ status, body }).toEqual({
      status: 202,
      body: { run_id: expect.any(String), ...getId(automation), status: 'queued' },
    });
    const run = (await app.as(team.guest).get(`/api/automations/runs/${body.run_id}`)).body;
    expect(run).toMatchObject({ status: 'queued', trigger_type: 'manual', is_test: false, triggered_by: team.manager.user_id });
    expect(run.event).toMatchObject({ type: 'task.created', task: { task_id: 't-1' }, actor_id: team.manager.user_id });
    expect(run.event.team_id).toBe(team.team_id);
    expect(await orders(body.run_id)).toHaveLength(1);
  });

  it('the condition gates it too: skipped, and nothing is ordered', async () => {
    const automation = await make({ condition: 'task.priority == "urgent" && actor.user_id == event.actor_id' });
    const low = await call(team.member, automation, 'execute', { event: { task: { priority: 'low' } } });
    expect(low.body.status).toBe('skipped');
    expect(await orders(low.body.run_id)).toEqual([]);
    const urgent = await call(team.member, automation, 'execute', { event: { task: { priority: 'urgent' } } });
    expect(urgent.body.status).toBe('queued');
    expect((await call(team.member, automation, 'execute')).body.status).toBe('skipped');
  });

  it('409 for a version that the caller has not seen; a run of another version is never started', async () => {
    const automation = await make();
    await app.as(team.member).patch(`/api/automations/${automation.automation_id}`, { name: 'Renamed' });
    for (const verb of ['execute', 'test']) {
      const refused = await call(team.member, automation, verb, { version: 1 });
      expect([refused.status, refused.body.message]).toEqual([409, 'The automation is at version 2, not 1']);
      expect((await call(team.member, automation, verb, { version: 2 })).status).toBe(202);
    }
    expect(await db()('automation_runs').where(getId(automation))).toHaveLength(2);
  });

  it('works while the automation is disabled, and once for one Idempotency-Key', async () => {
    const automation = await make({ is_active: false });
    const headers = { 'idempotency-key': 'once' };
    const [first, second] = [1, 2].map(() => call(team.member, automation, 'execute', {}, { headers }));
    const answers = [await first, await second].filter((answer) => answer?.status === 202);
    expect(new Set(answers.map((answer) => answer?.body.run_id)).size).toBe(1);
    expect(await db()('automation_runs').where({ automation_id: automation.automation_id })).toHaveLength(1);
  });

  it('shortens an event that is too large, which can never be replayed, and what fails for want of the rest says so', async () => {
    const automation = await make({ actions: [comment('{{event.blob.9}}'), comment('{{event.title}}')] });
    const event = { title: 'big', blob: Array.from({ length: 10 }, () => Array(200).fill('x'.repeat(512))) };
    const { body } = await call(team.member, automation, 'execute', { event });
    const run = (await app.as(team.guest).get(`/api/automations/runs/${body.run_id}`)).body;
    expect(run).toMatchObject({ event_truncated: true, event: { title: 'big' } });
    expect(run.event.blob).toHaveLength(5);
    const carrier = { runId: body.run_id, incarnation: 1, execution: 'an-execution' };
    await performAction(app.services, carrier, 0);
    expect((await db()('run_actions').where({ run_id: body.run_id, index: 0 }).first()).error).toEqual({
      code: 'template_missing',
      message: 'The event has no event.blob.9: it was too large to be kept whole, and was cut',
    });
    await performAction(app.services, carrier, 1);
    expect((await call(team.manager, { automation_id: `dead-letter/${body.run_id}` }, 'retry')).status).toBe(400);
  });

  it('keeps no more than 64 kB of one whose names are long, or whose texts grow when they are written down', async () => {
    const names = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`${n}${'k'.repeat(30_000)}`, n]));
    const texts = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`t${n}`, '\u0001'.repeat(2_000)]));
    for (const event of [names, texts]) {
      const { run_id } = (await call(team.member, await make(), 'execute', { event })).body;
      const [{ bytes, event_truncated }] = await db()('automation_runs')
        .where({ run_id })
        .select('event_truncated', db().raw('octet_length(event::text)::int as bytes'));
      expect({ event_truncated, fits: bytes <= 70_000 }).toEqual({ event_truncated: true, fits: true });
    }
  });

  it('refuses members about another’s automation, and what is no object', async () => {
    const automation = await make({}, team.manager);
    expect((await call(team.member, automation, 'execute')).status).toBe(403);
    expect((await call(team.manager, automation, 'execute', { event: [] })).status).toBe(422);
    expect((await call(team.manager, automation, 'test', { event: 'x' })).status).toBe(422);
  });
});

it('execute, test and retry share one limit a person', async () => {
  const limited = await startApp({ RATE_LIMIT_AUTOMATION_DISPATCH: '3' });
  try {
    const other = await buildTeam(limited);
    const body = { name: 'x', trigger_type: 'manual', team_id: other.team_id };
    const { automation_id } = (await limited.as(other.member).post('/api/automations', body)).body;
    const post = async (path: string, person = other.member) =>
      (await limited.as(person).post(`/api/automations/${path}`)).status;
    expect(await post(`${automation_id}/execute`)).toBe(202);
    expect(await post(`${automation_id}/test`)).toBe(202);
    expect(await post(`dead-letter/${automation_id}/retry`)).toBe(404);
    expect(await post(`${automation_id}/execute`)).toBe(429);
    expect(await post(`${automation_id}/test`)).toBe(429);
    expect(await post(`${automation_id}/execute`, other.manager)).toBe(202);
  } finally {
    await limited.close();
  }
});

describe('POST /api/automations/{id}/toggle', () => {
  it('switches without a version, flips without a wish, and forgets why it was off', async () => {
    const automation = await make();
    await db()('automations').where({ automation_id: automation.automation_id }).update({ disabled_reason: 'rate_breaker' });
    expect((await call(team.member, automation, 'toggle')).body).toEqual({
      ...getId(automation),
      is_active: false,
      cancelled_runs: 0,
    });
    expect(await record(automation)).toMatchObject({ is_active: false, version: 1, disabled_reason: null });
    expect((await call(team.manager, automation, 'toggle', { is_active: true })).body.is_active).toBe(true);
    expect((await call(team.manager, automation, 'toggle', { is_active: true })).body.is_active).toBe(true);
  });

  it('ends 50 queued runs, a paused and a running one on request, and what ended stays', async () => {
    const automation = await make({ actions: [comment('a'), { type: 'require_approval' }, comment('b')] });
    const queued = await Promise.all(Array.from({ length: 50 }, () => buildRun(app, team, { automation, status: 'queued' })));
    const paused = await buildRun(app, team, { automation });
    const running = await buildRun(app, team, { automation, status: 'running' });
    const done = await buildRun(app, team, { automation, status: 'succeeded' });
    expect((await call(team.member, automation, 'toggle', { is_active: false })).body.cancelled_runs).toBe(0);
    const off = await call(team.member, automation, 'toggle', { is_active: false, cancel_running: true });
    expect(off.body.cancelled_runs).toBe(52);
    const left = await db()('automation_runs').where(getId(automation)).whereNot({ status: 'cancelled' }).pluck('run_id');
    expect(left).toEqual([done.run_id]);
    const ids = [...queued, paused, running].map(({ run_id }) => run_id);
    expect(await db()('run_actions').whereIn('run_id', ids).whereIn('status', ['pending', 'running', 'staged'])).toEqual([]);
    expect(await db()('outbox').whereIn('subject', ids).pluck('kind')).toEqual(['run.wake', 'run.wake']);
    expect((await app.as(team.manager).post(`/api/automations/runs/${paused.run_id}/approve`)).status).toBe(409);
  });
});

const getId = ({ automation_id }: { automation_id: string }) => ({ automation_id });

describe('POST /api/automations/runs/{run_id}/cancel', () => {
  const cancel = (person: Person, run: { run_id: string }) => app.as(person).post(`/api/automations/runs/${run.run_id}/cancel`);

  it('ends what waits or works, once, and says so where it ended otherwise', async () => {
    for (const status of ['queued', 'running', 'paused'] as const) {
      const run = await buildRun(app, team, { status });
      expect((await cancel(team.member, run)).body).toEqual({ success: true, run_id: run.run_id, status: 'cancelled' });
      expect(await cancel(team.member, run)).toMatchObject({
        status: 409,
        body: { message: 'The run has already ended: cancelled' },
      });
    }
  });

  it('against an approval at the same moment has one outcome', async () => {
    for (let round = 0; round < 20; round += 1) {
      const run = await buildRun(app, team);
      const approve = app.as(team.manager).post(`/api/automations/runs/${run.run_id}/approve`);
      const [approved, ended] = await Promise.all([approve, cancel(team.member, run)]);
      const { status } = await db()('automation_runs').where({ run_id: run.run_id }).first();
      // What was approved a moment before is running, and ends all the same.
      expect([200, 409]).toContain(approved.status);
      expect({ ended: ended.status, status }).toEqual({ ended: 200, status: 'cancelled' });
    }
  });
});

describe('versions', () => {
  const versions = async (automation: { automation_id: string }, query = '') =>
    (await app.as(team.guest).get(`/api/automations/${automation.automation_id}/versions${query}`)).body;
  const save = (automation: { automation_id: string }, fields: object) =>
    app.as(team.member).patch(`/api/automations/${automation.automation_id}`, fields);

  it('lists every save newest first, and one by its number', async () => {
    const automation = await make();
    await save(automation, { actions: [comment('two')], change_note: 'louder' });
    const all = await versions(automation);
    expect(all).toMatchObject([
      { version: 2, is_current: true, change_note: 'louder', restored_from: null, actions: [{ params: { content: 'two' } }] },
      { version: 1, is_current: false, change_note: null, changed_by: team.member.user_id, trigger_type: 'manual' },
    ]);
    expect(await versions(automation, '?limit=1&offset=1')).toEqual([all[1]]);
    const one = (n: string) => app.as(team.guest).get(`/api/automations/${automation.automation_id}/versions/${n}`);
    expect((await one('1')).body).toEqual(all[1]);
    for (const n of ['3', '0', '-1', '1.0', 'x', '99999999999']) expect((await one(n)).status).toBe(404);
  });

  it('rollback writes a new version from the old one; runs under way keep theirs', async () => {
    const automation = await make();
    await save(automation, { name: 'Changed', actions: [comment('two')], condition: 'true' });
    const run = await buildRun(app, team, { automation, status: 'queued' });
    const { status, body } = await call(team.member, automation, 'rollback', { version: 1 });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { version: 3, restored_from: 1, missing_secrets: [], automation: { name: 'By hand', version: 3, condition: null } },
    });
    expect(body.automation.actions[0].params.content).toBe('one');
    expect((await versions(automation))[0]).toMatchObject({ version: 3, restored_from: 1, is_current: true });
    expect(await db()('automation_runs').where({ run_id: run.run_id }).first()).toMatchObject({ automation_version: 2 });
    expect((await call(team.member, automation, 'rollback', { version: 9 })).status).toBe(404);
    expect((await call(team.member, automation, 'rollback', {})).status).toBe(422);
  });

  it('rollback to what needs a secret that is gone: 409 naming it, unless forced', async () => {
    const automation = await make({ actions: [comment('Key {{secret:GONE}}')] });
    await save(automation, { actions: [] });
    const refused = await call(team.member, automation, 'rollback', { version: 1 });
    expect(refused).toMatchObject({ status: 409, body: { missing_secrets: ['GONE'], detail: 'Missing secrets: GONE' } });
    expect((await record(automation)).version).toBe(2);
    const forced = await call(team.member, automation, 'rollback', { version: 1, force: true });
    expect(forced).toMatchObject({ status: 200, body: { version: 3, missing_secrets: ['GONE'] } });
  });

  it('racing saves and rollbacks make one version each', async () => {
    const automation = await make();
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        i % 2 ? save(automation, { name: `n${i}` }) : call(team.member, automation, 'rollback', { version: 1 }),
      ),
    );
    expect(all.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect((await versions(automation)).map(({ version }: { version: number }) => version)).toEqual([
      11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1,
    ]);
  });
});

it('run history takes a status in any case, and pages', async () => {
  const automation = await make();
  for (const status of ['failed', 'failed', 'queued'] as const) await buildRun(app, team, { automation, status });
  const runs = async (query: string) =>
    (await app.as(team.guest).get(`/api/automations/${automation.automation_id}/runs${query}`)).body;
  expect(await runs('?status=FAILED')).toHaveLength(2);
  expect(await runs('?status=Failed&limit=1&offset=1')).toHaveLength(1);
  expect(await runs('')).toHaveLength(3);
});
