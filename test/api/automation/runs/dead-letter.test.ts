import { actionsToSkip } from '../../../../api/automation/runs/dead-letter/rules.js';
import { finishRun } from '../../../../api/automation/runs/execution/finish-run.js';
import { buildPerson, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { buildRun, GATE, GATED, type TestRun } from '../../../factories/runs.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;

beforeAll(async () => {
  app = await startApp({}, 60_000); // twenty requests for one row, on a busy machine
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

/** Repetitions of each race; more by CAS_ROUNDS (`npm run test:long`). */
const ROUNDS = Number(process.env['CAS_ROUNDS'] ?? 8);
const byText = (a: string, b: string): number => (a < b ? -1 : 1);
const NOBODY = '019a9f00-0000-7000-8000-000000000001';
const FAILED = ['succeeded', 'succeeded', 'failed'] as const;
const failure = { code: 'template_missing', message: 'actions[2] (set_task_status): event.task is not there' };
const buildFailed = (options: Parameters<typeof buildRun>[2] = {}) =>
  buildRun(app, team, {
    status: 'failed',
    statuses: [...FAILED],
    ...options,
    fields: { error: JSON.stringify(failure), ...options.fields },
  });
const retry = (person: Person, run: { run_id: string }, body?: object) =>
  app.as(person).post(`/api/automations/dead-letter/${run.run_id}/retry`, body);
const list = async (person: Person, query = '') => (await app.as(person).get(`/api/automations/dead-letter${query}`)).body;
const findRun = (run_id: string) => app.services.db('automation_runs').where({ run_id }).first();
const getStatuses = async (run_id: string): Promise<string[]> =>
  (await app.services.db('run_actions').where({ run_id }).orderBy('index')).map(({ status }) => status);
const findRetries = (run: TestRun) => app.services.db('automation_runs').where({ retry_of: run.run_id });
/** Ends a run like the worker. */
const finish = (run_id: string, status: string) =>
  app.services.db('automation_runs').where({ run_id }).update({ status, finished_at: app.services.db.fn.now() });

/** Ends a run whose steps all succeeded, like the worker. */
async function succeed(runId: string): ReturnType<typeof finishRun> {
  await app.services.db('run_actions').where({ run_id: runId }).update({ status: 'succeeded' });
  return finishRun(app.services, { runId, incarnation: 1, execution: 'an-execution' }, false);
}

describe('GET /api/automations/dead-letter', () => {
  it('lists failed runs newest first with what failed in them', async () => {
    const older = await buildFailed({ fields: { finished_at: '2026-01-01T00:00:00Z' } });
    const newer = await buildFailed({ fields: { finished_at: '2026-01-02T00:00:00Z', event_truncated: true } });
    const { status, body } = await app.as(team.guest).get('/api/automations/dead-letter');
    expect(status).toBe(200);
    expect(body).toMatchObject({ total: 2, showing: 2 });
    expect(body.entries).toMatchObject([
      { run_id: newer.run_id, event_truncated: true, retryable: false, not_retryable_reason: 'event_truncated' },
      {
        run_id: older.run_id,
        automation_id: older.automation_id,
        automation_name: 'Deploy on merge',
        automation_version: 1,
        team_id: team.team_id,
        trigger_type: 'forge.pr_merged',
        failed_at: '2026-01-01T00:00:00.000Z',
        error: failure,
        failed_actions: [{ index: 2, type: 'set_task_status', error: { code: 'template_missing' } }],
        event_truncated: false,
        retryable: true,
        not_retryable_reason: null,
        retry_count: 0,
        last_retry_run_id: null,
      },
    ]);
  });

  it('leaves out runs that did not fail, test runs, replayed ones, and those of deleted automations', async () => {
    const kept = await buildFailed();
    await buildRun(app, team, { status: 'succeeded' });
    await buildRun(app, team);
    await buildFailed({ fields: { is_test: true } });
    await buildFailed({ fields: { retried_by: kept.run_id } });
    const deleted = await buildFailed();
    await app.as(team.member).delete(`/api/automations/${deleted.automation_id}`);
    expect(await list(team.guest)).toMatchObject({ total: 1, entries: [{ run_id: kept.run_id }] });
  });

  it('shows only own teams and own personal runs, and 403 for a foreign team', async () => {
    const run = await buildFailed();
    const personal = await buildFailed({ inTeam: false });
    const ids = async (person: Person, query?: string) =>
      (await list(person, query)).entries.map((entry: { run_id: string }) => entry.run_id);
    expect((await ids(team.member)).toSorted(byText)).toEqual([run.run_id, personal.run_id].toSorted(byText));
    expect(await ids(team.member, `?team_id=${team.team_id}`)).toEqual([run.run_id]);
    expect(await ids(team.admin)).toEqual([run.run_id]);
    const stranger = await buildPerson(app);
    expect(await list(stranger)).toEqual({ entries: [], total: 0, showing: 0 });
    for (const id of [team.team_id, NOBODY, 'garbage']) {
      expect((await app.as(stranger).get(`/api/automations/dead-letter?team_id=${id}`)).status).toBe(403);
    }
  });

  it('keeps to the limit, tells the total, and refuses what is out of range', async () => {
    for (let i = 0; i < 3; i += 1) await buildFailed();
    expect(await list(team.guest, '?limit=2')).toMatchObject({ total: 3, showing: 2 });
    for (const limit of ['0', '201', '-1', 'x']) {
      expect((await app.as(team.guest).get(`/api/automations/dead-letter?limit=${limit}`)).status).toBe(422);
    }
  });
});

describe('POST /api/automations/dead-letter/:run_id/retry', () => {
  it('200 makes a new run on the same event, asks the relay to start it, and leaves an audit entry', async () => {
    const run = await buildFailed();
    const { status, headers, body } = await retry(team.member, run);
    expect({ status, body }).toEqual({
      status: 200,
      body: { success: true, run_id: expect.any(String), retry_of: run.run_id, automation_version: 1, status: 'queued' },
    });
    const original = await findRun(run.run_id);
    expect(await findRun(body.run_id)).toMatchObject({
      status: 'queued',
      retry_of: run.run_id,
      automation_id: run.automation_id,
      event: original.event,
      trigger_type: 'forge.pr_merged',
      triggered_by: team.member.user_id,
      creator_id: team.member.user_id,
      correlation_id: headers.get('x-correlation-id'),
      is_test: false,
    });
    expect(await getStatuses(body.run_id)).toEqual(['pending', 'pending', 'pending']);
    const [start] = await app.services.db('outbox').where({ kind: 'run.start', subject: body.run_id });
    expect(start).toMatchObject({
      payload: { run_id: body.run_id, incarnation: 1 },
      correlation_id: headers.get('x-correlation-id'),
    });
    const [entry] = await app.services.db('audit_entries').where({ audit_id: headers.get('x-correlation-id') });
    expect(entry).toMatchObject({ feature: 'automations', action: 'retry', severity: 'MEDIUM', entity_id: run.run_id });
    expect(await list(team.guest)).toMatchObject({
      entries: [
        {
          run_id: run.run_id,
          retryable: false,
          not_retryable_reason: 'replay_running',
          retry_count: 1,
          last_retry_run_id: body.run_id,
        },
      ],
    });
    expect((await app.as(team.guest).get(`/api/automations/runs/${body.run_id}`)).body).toMatchObject({ retry_of: run.run_id });
  });

  it('409 while a replay is under way; after it failed both are listed and both can be replayed', async () => {
    const run = await buildFailed();
    const first = await retry(team.member, run);
    expect((await retry(team.member, run)).status).toBe(409);
    await finish(first.body.run_id, 'failed');
    expect((await list(team.guest)).entries.map((entry: { run_id: string }) => entry.run_id).toSorted(byText)).toEqual(
      [run.run_id, first.body.run_id].toSorted(byText),
    );
    const second = await retry(team.member, run);
    expect(second.status).toBe(200);
    expect(second.body.run_id).not.toBe(first.body.run_id);
    expect((await list(team.guest)).entries.find((entry: { run_id: string }) => entry.run_id === run.run_id)).toMatchObject({
      retry_count: 2,
      last_retry_run_id: second.body.run_id,
    });
    await finish(second.body.run_id, 'failed');
    expect((await retry(team.member, first.body)).body).toMatchObject({ retry_of: first.body.run_id });
  });

  it('409 for every run of one failure while any replay of it is under way, also where the first has been forgotten', async () => {
    const run = await buildFailed();
    const { body: first } = await retry(team.member, run);
    await finish(first.run_id, 'failed');
    const { body: second } = await retry(team.member, first);
    expect((await retry(team.manager, run)).status).toBe(409);
    expect((await retry(team.manager, first)).status).toBe(409);
    expect((await list(team.guest)).entries).toMatchObject([
      { not_retryable_reason: 'replay_running' },
      { not_retryable_reason: 'replay_running' },
    ]);
    await app.services.db('automation_runs').where({ run_id: run.run_id }).delete();
    expect((await retry(team.manager, first)).status).toBe(409);
    await finish(second.run_id, 'failed');
    const { body: third } = await retry(team.member, first);
    expect((await retry(team.manager, second)).status).toBe(409);
    await finish(third.run_id, 'cancelled');
    expect((await retry(team.manager, third)).status).toBe(404);
    expect((await list(team.guest)).entries.map((entry: { retryable: boolean }) => entry.retryable)).toEqual([true, true]);
    expect((await retry(team.manager, second)).status).toBe(200);
  });

  it('once one replay has succeeded nothing of that failure is left to be replayed', async () => {
    const run = await buildFailed();
    const { body: child } = await retry(team.member, run);
    await finish(child.run_id, 'failed');
    const { body: grandchild } = await retry(team.member, child);
    await finish(grandchild.run_id, 'failed');
    const other = await buildFailed();
    const { body: last } = await retry(team.member, run);
    expect(await succeed(last.run_id)).toBe('succeeded');
    expect((await list(team.guest)).entries).toMatchObject([{ run_id: other.run_id }]);
    for (const { run_id } of [run, child, grandchild]) {
      expect((await retry(team.manager, { run_id })).status).toBe(404);
      expect(await findRun(run_id)).toMatchObject({ retried_by: last.run_id });
    }
    expect(await findRun(other.run_id)).toMatchObject({ retried_by: null });
  });

  it('a replay against the success of another one: it comes too late or too early, never beside it', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const run = await buildFailed();
      const { body: child } = await retry(team.member, run);
      await finish(child.run_id, 'failed');
      const { body: last } = await retry(team.member, run);
      const [{ status }] = await Promise.all([retry(team.manager, child), succeed(last.run_id)]);
      expect([404, 409]).toContain(status);
    }
  });

  it('takes the automation as it is now, or as it was', async () => {
    const run = await buildFailed();
    await app.as(team.member).patch(`/api/automations/${run.automation_id}`, { name: 'Mended', actions: [GATED[2]] });
    const original = await retry(team.member, run, { version: 'original' });
    expect(original.body.automation_version).toBe(1);
    expect(await findRun(original.body.run_id)).toMatchObject({ automation_name: 'Deploy on merge' });
    await finish(original.body.run_id, 'failed');
    const current = await retry(team.member, run, { version: null });
    expect(current.body.automation_version).toBe(2);
    expect(await findRun(current.body.run_id)).toMatchObject({ automation_name: 'Mended' });
    expect(await getStatuses(current.body.run_id)).toEqual(['pending']);
  });

  it('with actions: failed leaves out what succeeded, but asks again at a gate', async () => {
    const run = await buildFailed();
    expect(await getStatuses((await retry(team.member, run, { actions: 'failed' })).body.run_id)).toEqual([
      'skipped',
      'pending',
      'pending',
    ]);
  });

  it('is the creator’s or a manager’s; 403 for anyone else, before anything is told of the run', async () => {
    const colleague = await buildPerson(app);
    await app.services.db('memberships').insert({ team_id: team.team_id, user_id: colleague.user_id, role: 'member' });
    const run = await buildFailed();
    const healthy = await buildRun(app, team);
    for (const person of [colleague, team.guest, await buildPerson(app)]) {
      expect((await retry(person, run)).status).toBe(403);
      expect((await retry(person, healthy)).status).toBe(403);
    }
    const personal = await buildFailed({ inTeam: false });
    expect((await retry(team.admin, personal)).status).toBe(403);
    expect((await retry(team.member, personal)).status).toBe(200);
    expect((await retry(team.manager, run)).status).toBe(200);
    expect(await findRetries(healthy)).toHaveLength(0);
    await app.services.db('memberships').where({ user_id: team.member.user_id }).update({ role: 'guest' });
    expect(
      (await retry(team.member, await buildFailed({ creator: team.admin, fields: { creator_id: team.member.user_id } }))).status,
    ).toBe(403);
  });

  it('404 for what is no dead letter, 400 for a truncated event, 422 for a strange body', async () => {
    const deleted = await buildFailed();
    await app.as(team.member).delete(`/api/automations/${deleted.automation_id}`);
    const kept = await buildFailed();
    for (const run of [
      { run_id: NOBODY },
      { run_id: 'garbage' },
      await buildRun(app, team),
      await buildRun(app, team, { status: 'succeeded' }),
      await buildFailed({ fields: { is_test: true } }),
      await buildFailed({ fields: { retried_by: kept.run_id } }),
      deleted,
    ]) {
      expect((await retry(team.member, run)).status).toBe(404);
    }
    const truncated = await retry(team.member, await buildFailed({ fields: { event_truncated: true } }));
    expect(truncated).toMatchObject({ status: 400, body: { error_code: 'INVALID_REQUEST' } });
    expect((await retry(team.member, kept, { version: 'next' })).status).toBe(422);
    expect((await retry(team.member, kept, { actions: 'some' })).status).toBe(422);
    expect(await findRetries(kept)).toHaveLength(0);
  });

  it('one of several racing replays wins', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const run = await buildFailed();
      const answers = await Promise.all([retry(team.member, run), retry(team.manager, run), retry(team.admin, run)]);
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
      const retries = await findRetries(run);
      expect(retries).toHaveLength(1);
      expect(await app.services.db('outbox').where({ kind: 'run.start', subject: retries[0].run_id })).toHaveLength(1);
    }
  });

  it('one of several racing replays of different runs of one failure wins', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const run = await buildFailed();
      const tree = [run.run_id];
      for (const parent of [0, 0, 1]) {
        const { body } = await retry(team.member, { run_id: tree[parent] as string });
        await finish(body.run_id, 'failed');
        tree.push(body.run_id);
      }
      const answers = await Promise.all(tree.map((run_id) => retry(team.manager, { run_id })));
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409]);
      const open = await app.services.db('automation_runs').where({ automation_id: run.automation_id }).whereNull('finished_at');
      expect(open).toHaveLength(1);
    }
  });

  it('a replay against the deletion of the automation: never a run behind the deletion', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const run = await buildFailed();
      const [replay, deletion] = await Promise.all([
        retry(team.member, run),
        app.as(team.admin).delete(`/api/automations/${run.automation_id}`),
      ]);
      expect(deletion.status).toBe(200);
      expect([200, 404, 409]).toContain(replay.status);
      const retries = await findRetries(run);
      if (replay.status === 200) expect(retries).toMatchObject([{ status: 'cancelled' }]);
      else expect(retries).toHaveLength(0);
    }
  });
});

it('429 after ten replays a minute, counted by person', async () => {
  const limited = await startApp({ RATE_LIMIT_AUTOMATION_DISPATCH: '2' });
  try {
    const other = await buildTeam(limited);
    const call = (person: Person) => limited.as(person).post(`/api/automations/dead-letter/${NOBODY}/retry`);
    expect([(await call(other.member)).status, (await call(other.member)).status, (await call(other.member)).status]).toEqual([
      404, 404, 429,
    ]);
    expect((await call(other.manager)).status).toBe(404);
  } finally {
    await limited.close();
  }
});

describe('what a replay of the failed actions leaves out', () => {
  const a = { type: 'add_comment', params: { content: 'a' } };
  const b = { type: 'add_comment', params: { content: 'b' } };
  const c = { type: 'set_task_status', params: { status: 'done' } };
  const gate = { type: GATE.type, params: {} };
  const done = 'succeeded' as const;
  const failed = 'failed' as const;

  it.each([
    [
      'the same version',
      [
        { ...a, status: done },
        { ...b, status: failed },
        { ...c, status: done },
      ],
      [a, b, c],
      [0, 2],
    ],
    [
      'a mended action',
      [
        { ...a, status: done },
        { ...b, status: failed },
      ],
      [a, c],
      [0],
    ],
    [
      'an action put in front',
      [
        { ...a, status: done },
        { ...b, status: failed },
      ],
      [c, a, b],
      [1],
    ],
    [
      'an action put in front of the same type',
      [
        { ...a, status: done },
        { ...c, status: failed },
      ],
      [b, a, c],
      [1],
    ],
    [
      'a changed order',
      [
        { ...a, status: done },
        { ...b, status: failed },
      ],
      [b, a],
      [1],
    ],
    [
      'a succeeded action with other words',
      [
        { ...a, status: done },
        { ...c, status: failed },
      ],
      [b, c],
      [0],
    ],
    [
      'two alike of which one succeeded',
      [
        { ...a, status: done },
        { ...a, status: failed },
      ],
      [a, a],
      [0],
    ],
    [
      'an approved gate with something left behind it',
      [
        { ...gate, status: done },
        { ...a, status: failed },
      ],
      [gate, a],
      [],
    ],
    [
      'an approved gate with nothing left behind it',
      [
        { ...a, status: failed },
        { ...gate, status: done },
        { ...b, status: done },
      ],
      [a, gate, b],
      [1, 2],
    ],
    [
      'actions skipped after a stop',
      [
        { ...a, status: failed },
        { ...b, status: 'skipped' as const },
      ],
      [a, b],
      [],
    ],
    [
      'everything taken out',
      [
        { ...a, status: done },
        { ...b, status: failed },
      ],
      [gate],
      [0],
    ],
  ])('%s', (_what, before, next, expected) => {
    expect(actionsToSkip(before, next)).toEqual(expected);
  });
});
