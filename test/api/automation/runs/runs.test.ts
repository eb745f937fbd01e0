import { v7 as uuidv7 } from 'uuid';
import { actionTypes, withDefaults } from '../../../../api/automation/actions/registry.js';
import { createRun, type NewRun } from '../../../../api/automation/runs/record/create-run.js';
import type { Context } from '../../../../api/platform/context.js';
import { buildPerson, buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { buildRun, GATED, type TestRun } from '../../../factories/runs.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { countParameters } from '../../../support/statements.js';

let app: TestApp;
let team: TestTeam;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

const NOBODY = '019a9f00-0000-7000-8000-000000000001';
const findRun = (run_id: string) => app.services.db('automation_runs').where({ run_id }).first();
const buildActions = (run_id: string) => app.services.db('run_actions').where({ run_id }).orderBy('index');
const findOutbox = (subject: string) => app.services.db('outbox').where({ subject });
const buildContext = (person: Person): Context => ({
  ...app.services,
  actor: {
    type: 'automation',
    userId: person.user_id,
    email: person.email,
    role: 'user',
    automationId: uuidv7(),
    runId: uuidv7(),
    depth: 1,
  },
  requestId: uuidv7(),
  correlationId: uuidv7(),
  ip: null,
  userAgent: null,
});
const build = async (actions = GATED): Promise<NewRun['automation']> =>
  (
    await app
      .as(team.member)
      .post('/api/automations', { name: 'Deploy on merge', trigger_type: 'forge.pr_merged', team_id: team.team_id, actions })
  ).body;
const event = { type: 'forge.pr_merged', team_id: null, project_id: null, pr_number: 12, task: { task_id: 't1' } };

describe('createRun', () => {
  it('stores the run, its actions and the order to start it', async () => {
    const automation = await build();
    const ctx = buildContext(team.member);
    const run_id = uuidv7();
    expect(await createRun(ctx, { run_id, automation, event, trigger_type: 'forge.pull_request', depth: 2 })).toBe(true);
    expect(await findRun(run_id)).toMatchObject({
      status: 'queued',
      automation_version: 1,
      automation_name: 'Deploy on merge',
      team_id: team.team_id,
      creator_id: team.member.user_id,
      trigger_type: 'forge.pull_request',
      event,
      event_truncated: false,
      depth: 2,
      correlation_id: ctx.correlationId,
      triggered_by: null,
      retry_of: null,
    });
    expect(await buildActions(run_id)).toMatchObject([
      { index: 0, type: 'add_comment', status: 'pending', on_failure: 'continue' },
      { index: 1, type: 'require_approval', status: 'pending' },
      { index: 2, type: 'set_task_status', status: 'pending' },
    ]);
    expect(await findOutbox(run_id)).toMatchObject([
      { kind: 'run.start', payload: { run_id, incarnation: 1 }, correlation_id: ctx.correlationId },
    ]);
  });

  it('makes one run of 20 racing creations with one id', async () => {
    const automation = await build();
    const run_id = uuidv7();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        createRun(buildContext(team.member), { run_id, automation, event, trigger_type: 'forge.pr_merged', depth: 0 }),
      ),
    );
    expect(answers.filter(Boolean)).toHaveLength(1);
    expect(await buildActions(run_id)).toHaveLength(3);
    expect(await findOutbox(run_id)).toHaveLength(1);
  });

  it('writes a row only, and no start, for a run that is skipped', async () => {
    const automation = await build();
    const run_id = uuidv7();
    const skipped = { skip_reason: 'condition_false', condition_error: 'No such key: task' } as const;
    expect(
      await createRun(buildContext(team.member), {
        run_id,
        automation,
        event,
        trigger_type: 'task.created',
        depth: 0,
        ...skipped,
      }),
    ).toBe(true);
    expect(await findRun(run_id)).toMatchObject({
      status: 'skipped',
      ...skipped,
      finished_at: expect.any(Date),
      started_at: null,
    });
    expect((await buildActions(run_id)).map(({ status }) => status)).toEqual(['skipped', 'skipped', 'skipped']);
    expect(await findOutbox(run_id)).toHaveLength(0);
    const { body } = await app.as(team.guest).get(`/api/automations/runs/${run_id}`);
    expect(body).toMatchObject({ skip_reason: 'condition_false', workflow_id: null, duration_ms: null, approval: null });
  });

  it('shortens an event over 64 kB, and says so', async () => {
    const automation = await build();
    const sized = async (length: number) => {
      const run_id = uuidv7();
      const payload = { ...event, title: 'Small', body: 'x'.repeat(length) };
      await createRun(buildContext(team.member), { run_id, automation, event: payload, trigger_type: 'x', depth: 0 });
      return findRun(run_id);
    };
    const room = 65_536 - Buffer.byteLength(JSON.stringify({ ...event, title: 'Small', body: '' }));
    expect(await sized(room)).toMatchObject({ event_truncated: false, event: { task: { task_id: 't1' } } });
    const cut = await sized(room + 1);
    expect(cut.event_truncated).toBe(true);
    expect(cut.event).toEqual({ ...event, title: 'Small', body: expect.stringMatching(/^x{16384}…$/) });
  });

  it('makes no run of an automation that has been deleted', async () => {
    const automation = await build();
    await app.as(team.member).delete(`/api/automations/${automation.automation_id}`);
    expect(await createRun(buildContext(team.member), { run_id: uuidv7(), automation, event, trigger_type: 'x', depth: 0 })).toBe(
      false,
    );
  });

  it('makes no run behind the back of a deletion', async () => {
    for (let round = 0; round < 20; round += 1) {
      const automation = await build();
      const run_id = uuidv7();
      const [created, deletion] = await Promise.all([
        createRun(buildContext(team.member), { run_id, automation, event, trigger_type: 'x', depth: 0 }),
        app.as(team.member).delete(`/api/automations/${automation.automation_id}`),
      ]);
      expect(deletion.body.cancelled_runs).toBe(created ? 1 : 0);
      expect((await findRun(run_id))?.status).toBe(created ? 'cancelled' : undefined);
    }
  });
});

describe('DELETE /api/automations/:automation_id', () => {
  it('cancels what is queued and paused, wakes only what has a workflow, and leaves the rest readable', async () => {
    const automation = await build();
    const paused = await buildRun(app, team, { automation });
    const queued = await buildRun(app, team, { automation, status: 'queued', statuses: ['pending', 'pending', 'pending'] });
    const running = await buildRun(app, team, { automation, status: 'running' });
    const done = await buildRun(app, team, {
      automation,
      status: 'succeeded',
      statuses: ['succeeded', 'succeeded', 'succeeded'],
    });
    const path = `/api/automations/${automation.automation_id}`;
    const { status, headers, body } = await app.as(team.member).delete(path);
    expect({ status, body }).toEqual({
      status: 200,
      body: { success: true, automation_id: automation.automation_id, cancelled_runs: 2 },
    });
    const statuses = await Promise.all(
      [paused, queued, running, done].map(async ({ run_id }: TestRun) => (await findRun(run_id)).status),
    );
    expect(statuses).toEqual(['cancelled', 'cancelled', 'running', 'succeeded']);
    expect((await buildActions(paused.run_id)).map((action) => action.status)).toEqual(['succeeded', 'skipped', 'skipped']);
    expect(await findOutbox(paused.run_id)).toMatchObject([
      { kind: 'run.wake', payload: { run_id: paused.run_id, incarnation: 1 } },
    ]);
    expect(await findOutbox(queued.run_id)).toHaveLength(0);
    const [entry] = await app.services.db('audit_entries').where({ audit_id: headers.get('x-correlation-id') });
    expect(entry).toMatchObject({ feature: 'automations', action: 'delete', severity: 'MEDIUM' });
    const member = app.as(team.member);
    for (const answer of [
      await member.get(path),
      await member.delete(path),
      await member.patch(path, { name: 'x' }),
      await member.get(`${path}/runs`),
    ]) {
      expect(answer.status).toBe(404);
    }
    expect((await member.get(`/api/automations/runs/${paused.run_id}`)).body).toMatchObject({ status: 'cancelled' });
    expect((await app.as(team.manager).post(`/api/automations/runs/${paused.run_id}/approve`)).status).toBe(409);
    expect((await member.get('/api/automations')).body).toEqual([]);
  });

  it('needs as many parameters for many waiting runs as for one: a statement takes 65,535', async () => {
    const parametersFor = async (count: number): Promise<number> => {
      const automation = await build();
      for (let i = 0; i < count; i += 1) await buildRun(app, team, { automation, status: 'queued' });
      return countParameters(async () => {
        const { body } = await app.as(team.member).delete(`/api/automations/${automation.automation_id}`);
        expect(body.cancelled_runs).toBe(count);
      });
    };
    expect(await parametersFor(12)).toBe(await parametersFor(1));
  });
});

describe('reading runs', () => {
  it('shows a run as it stands at its gate, without the parameters of what is staged', async () => {
    const run = await buildRun(app, team);
    const { status, body } = await app.as(team.guest).get(`/api/automations/runs/${run.run_id}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      run_id: run.run_id,
      automation_name: 'Deploy on merge',
      automation_version: 1,
      team_id: team.team_id,
      status: 'paused',
      skip_reason: null,
      trigger_type: 'forge.pr_merged',
      event: { pr_number: 12 },
      event_truncated: false,
      is_test: false,
      depth: 0,
      retry_of: null,
      retried_by: null,
      actions: [
        { index: 0, type: 'add_comment', status: 'succeeded' },
        { index: 1, type: 'require_approval', status: 'running' },
        { index: 2, type: 'set_task_status', status: 'staged' },
      ],
      approval: {
        gate_index: 1,
        required_role: 'manager',
        required_approvals: 1,
        approvals: [],
        expired: false,
        decision: null,
        expires_at: expect.stringMatching(/\.\d{3}Z$/),
      },
      workflow_id: `run:${run.run_id}`,
      error: null,
      finished_at: null,
      duration_ms: null,
    });
    expect(JSON.stringify(body)).not.toContain('nobody');
  });

  it('lists the runs of an automation newest first, by status in any case, in pages', async () => {
    const automation = await build();
    const at = (day: number) => ({ fields: { queued_at: `2026-01-0${day}T00:00:00Z` } });
    const first = await buildRun(app, team, { automation, ...at(1), status: 'failed' });
    const second = await buildRun(app, team, { automation, ...at(2) });
    const third = await buildRun(app, team, { automation, ...at(3), status: 'failed' });
    const path = `/api/automations/${automation.automation_id}/runs`;
    const ids = async (query = '') => (await app.as(team.guest).get(`${path}${query}`)).body.map(({ run_id }: TestRun) => run_id);
    expect(await ids()).toEqual([third.run_id, second.run_id, first.run_id]);
    expect(await ids('?status=FAILED')).toEqual([third.run_id, first.run_id]);
    expect(await ids('?status=failed&limit=1')).toEqual([third.run_id]);
    expect(await ids('?limit=1&offset=1')).toEqual([second.run_id]);
    expect(await ids('?limit=100000')).toHaveLength(3);
    for (const query of ['?status=lost', '?limit=0', '?offset=-1'])
      expect((await app.as(team.guest).get(`${path}${query}`)).status).toBe(422);
    expect((await app.as(team.guest).get(path)).body[0]).not.toHaveProperty('event');
    expect((await app.as(team.guest).get(`/api/automations/${automation.automation_id}`)).body).toMatchObject({
      run_count: 3,
      failed_count: 2,
      last_run_at: '2026-01-03T00:00:00.000Z',
      last_run_status: 'failed',
    });
  });

  it('403 for strangers, 404 for unknown and malformed ids', async () => {
    const run = await buildRun(app, team);
    const stranger = app.as(await buildPerson(app));
    expect((await stranger.get(`/api/automations/runs/${run.run_id}`)).status).toBe(403);
    expect((await stranger.get(`/api/automations/${run.automation_id}/runs`)).status).toBe(403);
    for (const id of [NOBODY, 'garbage']) {
      expect((await app.as(team.member).get(`/api/automations/runs/${id}`)).status).toBe(404);
      expect((await app.as(team.member).get(`/api/automations/${id}/runs`)).status).toBe(404);
    }
  });
});

describe('actions', () => {
  const perform = (person: Person, type: string, params: Record<string, unknown>) => {
    const action = actionTypes[type];
    if (!action) throw new Error(`no action ${type}`);
    const run = { run_id: NOBODY, automation_name: 'Test', team_id: team.team_id, project_id: null };
    return action.perform(buildContext(person), action.params.parse(params), run);
  };

  it('use the operations of the API, as the given user', async () => {
    const project = await buildProject(app, team);
    const created = await perform(team.member, 'create_task', {
      ...project,
      title: ' New ',
      status: 'In-Progress',
      due_date: '2026-12-01',
    });
    const { task_id } = created.output as { task_id: string };
    expect(created).toEqual({ entity_type: 'task', entity_id: task_id, output: { task_id } });
    await perform(team.member, 'update_task', { task_id, title: 'Newer', tags: ['a', 'a'] });
    await perform(team.member, 'set_task_status', { task_id, status: 'done' });
    expect(await perform(team.member, 'assign_task', { task_id, assigned_to: team.guest.user_id })).toMatchObject({
      entity_type: 'task',
      entity_id: task_id,
      output: { version: 4, assigned_to: team.guest.user_id },
    });
    const commented = await perform(team.member, 'add_comment', { task_id, content: 'Done' });
    expect(commented).toMatchObject({ entity_type: 'comment', output: { task_id, comment_id: commented.entity_id } });
    expect((await app.as(team.guest).get(`/api/tasks/${task_id}`)).body).toMatchObject({
      title: 'Newer',
      status: 'done',
      tags: ['a'],
      due_date: '2026-12-01',
      assigned_to: team.guest.user_id,
      created_by: team.member.user_id,
    });
    const [entry] = await app.services.db('audit_entries').where({ entity_id: task_id, action: 'create' });
    expect(entry).toMatchObject({ actor_type: 'automation', user_id: team.member.user_id });
  });

  it('are refused where the person would be', async () => {
    const project = await buildProject(app, team);
    const { task_id } = await buildTask(app, team, project);
    const stranger = await buildPerson(app);
    for (const person of [team.guest, stranger]) {
      for (const [type, params] of [
        ['create_task', { ...project, title: 'x' }],
        ['update_task', { task_id, title: 'x' }],
        ['set_task_status', { task_id, status: 'done' }],
        ['assign_task', { task_id, assigned_to: null }],
        ['add_comment', { task_id, content: 'x' }],
      ] as const) {
        await expect(perform(person, type, params)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
      }
    }
  });

  it('a gate and an unknown name cannot be performed', () => {
    for (const type of ['require_approval', 'http_request', 'constructor', 'toString']) expect(actionTypes[type]).toBeUndefined();
  });
});

describe('defaults of parameters', () => {
  const automation = { project_id: 'p-own' };
  it.each([
    ['set_task_status', { status: 'done' }, { task: { task_id: 't1' } }, { status: 'done', task_id: 't1' }],
    ['set_task_status', { status: 'done', task_id: 't2' }, { task: { task_id: 't1' } }, { status: 'done', task_id: 't2' }],
    ['set_task_status', { status: 'done' }, { task: null }, { status: 'done' }],
    ['create_task', { title: 'x' }, { project_id: 'p1', task: { task_id: 't1' } }, { title: 'x', project_id: 'p1' }],
    ['create_task', { title: 'x' }, { project_id: null }, { title: 'x', project_id: 'p-own' }],
    [
      'create_task',
      { title: 'x', project_id: '{{event.other}}' },
      { project_id: 'p1' },
      { title: 'x', project_id: '{{event.other}}' },
    ],
    ['require_approval', {}, { project_id: 'p1', task: { task_id: 't1' } }, {}],
  ])('%s %j on %j', (type, params, given, expected) => {
    expect(withDefaults(type, params, given, automation)).toEqual(expected);
  });
});
