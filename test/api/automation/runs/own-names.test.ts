import { openGate } from '../../../../api/automation/runs/approvals/asking/open-gate.js';
import { performAction } from '../../../../api/automation/runs/execution/perform-action.js';
import { describeGates } from '../../../../api/automation/runs/staging/describe-gates.js';
import type { Context } from '../../../../api/platform/context.js';
import { createField, setFields, type TestField } from '../../../factories/custom-fields.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { buildRun, type TestRun } from '../../../factories/runs.js';
import { startApp, type TestApp } from '../../../support/app.js';

// An action sets a stage and custom fields by the names of the team. The gate shows the names and holds the ids: what is shown is what happens.

let app: TestApp;
let team: TestTeam;
let task: { task_id: string };
let severity: TestField;
let review: string;
let qa: string;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  const project = await buildProject(app, team);
  review = await addStage('Code review');
  qa = await addStage('In QA');
  severity = await createField(app, team, 'select', {
    name: 'Severity',
    options: [{ value: 'p1', label: 'Very high' }, { value: 'p2' }],
  });
  task = await buildTask(app, team, project, { title: 'Fix the crane', stage_id: review });
});

const db = () => app.services.db;
const addStage = async (name: string, where = team): Promise<string> =>
  (await app.as(where.manager).post('/api/stages', { team_id: where.team_id, name, status: 'in_review' })).body.stage_id;
const GATE = { type: 'require_approval', params: { role: 'manager', if_changed: 'ask_again' } };
const change = (params: object) => ({ type: 'update_task', params: { task_id: task.task_id, ...params } });
const carrier = async ({ run_id }: TestRun) => {
  const { incarnation } = await db()('automation_runs').where({ run_id }).first();
  return { runId: run_id, incarnation, execution: `execution-${incarnation}` };
};
async function openedRun(actions: object[]): Promise<TestRun> {
  const all = actions as { type: string }[];
  const run = await buildRun(app, team, { actions: all, status: 'running', statuses: all.map(() => 'pending'), gateIndex: 99 });
  await db()('automation_runs').where({ run_id: run.run_id }).update({ claimed_by: null });
  if (all[0]?.type === GATE.type) await openGate(app.services, await carrier(run), 0);
  return run;
}
const perform = async (run: TestRun, index = 1) => performAction(app.services, await carrier(run), index);
const getStep = ({ run_id }: TestRun, index = 1) => db()('run_actions').where({ run_id, index }).first();
const described = async ({ run_id }: TestRun) => {
  const { user_id: userId, email } = team.manager;
  const ctx = { ...app.services, actor: { type: 'user', userId, email, role: 'user' } } as unknown as Context;
  return (await describeGates(ctx, [run_id]))[run_id];
};
const linesOf = async (run: TestRun) =>
  (await described(run))?.lines.map(({ fields, refused }) => ({
    fields: fields.map(({ name, before, after }) => `${name}: ${before} → ${after}`).sort(),
    refused,
  }));
const approve = (run: TestRun, body: object = {}) =>
  app.as(team.manager).post(`/api/automations/runs/${run.run_id}/approve`, body);
const taskNow = async () => (await app.as(team.member).get(`/api/tasks/${task.task_id}?include=custom_fields`)).body;
const setSeverity = (value: unknown) => setFields(app, team, [{ field: severity, task_id: task.task_id, value }]);

it('a task under the id of a stage or of a field lends it no name', async () => {
  for (const task_id of [qa, severity.field_id])
    await app.as(team.member).post('/api/tasks', {
      task_id,
      title: 'Harmless',
      project_id: (await db()('tasks').where({ task_id: task.task_id }).first()).project_id,
    });
  const run = await openedRun([GATE, change({ stage_id: 'In QA', custom_fields: { severity: 'p1' } })]);
  const fields = (await linesOf(run))?.[0]?.fields.join();
  expect(fields).toContain('In QA');
  expect(fields).not.toContain('Harmless');
});

it('an unknown name that is cut within a character is refused, before a gate and without one', async () => {
  const name = `${'a'.repeat(59)}😀`;
  for (const params of [{ stage_id: name }, { custom_fields: { [name]: 'x' } }]) {
    const gated = await openedRun([GATE, change(params)]);
    expect((await linesOf(gated))?.[0]?.refused).toContain(`${'a'.repeat(59)}\ufffd”`);
    const plain = await openedRun([change(params)]);
    await perform(plain, 0);
    const { status, error } = await getStep(plain, 0);
    expect([status, error.message]).toEqual(['failed', expect.stringContaining(`${'a'.repeat(59)}\ufffd”`)]);
  }
});

it('shows names and does what it shows', async () => {
  const run = await openedRun([GATE, change({ stage_id: 'in qa', custom_fields: { severity: 'very high' } })]);
  expect(await linesOf(run)).toEqual([{ fields: ['Severity: null → Very high', 'stage: Code review → In QA'], refused: null }]);
  const { staged } = await db()('gates').where({ run_id: run.run_id }).first();
  expect(JSON.parse(staged).actions[0].params).toMatchObject({ stage_id: qa, custom_fields: { [severity.field_id]: 'p1' } });
  expect((await approve(run)).status).toBe(200);
  expect(await perform(run)).toMatchObject({ outcome: 'succeeded' });
  expect(await taskNow()).toMatchObject({ stage_id: qa, status: 'in_review', custom_fields: { severity: 'p1' } });
});

it('tells a field apart that is called as a field of every task is', async () => {
  const { key } = await createField(app, team, 'text', { name: 'Status' });
  const run = await openedRun([GATE, change({ custom_fields: { [key]: 'done' } })]);
  expect((await linesOf(run))?.[0]?.fields).toEqual(['Status (custom field): null → done']);
});

it('does the same without a gate, and clears what is null', async () => {
  await setSeverity('p2');
  const run = await openedRun([change({ stage_id: 'In QA', custom_fields: { Severity: null } })]);
  expect(await perform(run, 0)).toMatchObject({ outcome: 'succeeded' });
  expect(await taskNow()).toMatchObject({ stage_id: qa, custom_fields: {} });
});

it('a name that the team does not have is refused at the gate, in plain words', async () => {
  const other = await buildTeam(app);
  const foreign = await addStage('Secret stage', other);
  const wrong = [
    { stage_id: 'Ready to deploy' },
    { stage_id: 'Secret stage' },
    { stage_id: foreign },
    { custom_fields: { urgency: 'p1' } },
    { custom_fields: { severity: 'p9' } },
    { custom_fields: { [(await createField(app, other, 'text')).field_id]: 'x' } },
  ];
  const run = await openedRun([GATE, ...wrong.map(change)]);
  expect((await linesOf(run))?.map(({ refused }) => refused)).toEqual([
    expect.stringContaining('No stage of the team is called “Ready to deploy”'),
    expect.stringContaining('No stage of the team is called “Secret stage”'),
    'The team of the task has no such stage',
    expect.stringContaining('have no field that is called “urgency”'),
    expect.stringContaining('must be one of p1, p2'),
    expect.stringContaining('have no field that is called'),
  ]);
  expect(JSON.stringify(await described(run))).not.toContain(`Secret stage →`);
});

it('a choice that is replaced between the staging and the yes lends its value to no other of that label', async () => {
  const run = await openedRun([GATE, change({ custom_fields: { severity: 'very high' } })]);
  const options = [{ value: 'harmless', label: 'p1' }, { value: 'p2' }];
  expect((await app.as(team.manager).patch(`/api/custom-fields/${severity.field_id}`, { options })).status).toBe(200);
  expect((await approve(run)).status).toBe(200);
  await perform(run);
  expect((await getStep(run)).status).toBe('failed');
  expect(await taskNow()).toMatchObject({ custom_fields: {} });
});

it('a stage or a field that is deleted between the staging and the yes fails the step, and nothing is done', async () => {
  const run = await openedRun([
    GATE,
    change({ title: 'Moved', stage_id: 'In QA' }),
    change({ title: 'Set', custom_fields: { severity: 'p1' } }),
  ]);
  expect((await app.as(team.manager).delete(`/api/stages/${qa}`)).status).toBe(200);
  expect((await app.as(team.manager).delete(`/api/custom-fields/${severity.field_id}`)).status).toBe(200);
  expect((await approve(run)).status).toBe(200);
  expect(await perform(run, 1)).toMatchObject({ outcome: 'failed' });
  expect((await getStep(run, 1)).error).toMatchObject({ message: 'The team of the task has no such stage' });
  expect(await perform(run, 2)).toMatchObject({ outcome: 'failed' });
  expect((await getStep(run, 2)).error).toMatchObject({ message: expect.stringContaining('have no field that is called') });
  expect(await taskNow()).toMatchObject({ title: 'Fix the crane', stage_id: review });
});

it('a value that changes after the page was read, or after the yes, is asked about again', async () => {
  const run = await openedRun([GATE, change({ custom_fields: { severity: 'p1' } })]);
  const seen = await described(run);
  await setSeverity('p2');
  const late = await approve(run, { staged_hash: seen?.staged_hash, seen_hash: seen?.seen_hash });
  expect(late.status).toBe(409);
  const again = await described(run);
  expect((await approve(run, { staged_hash: again?.staged_hash, seen_hash: again?.seen_hash })).status).toBe(200);
  expect(await perform(run)).toEqual({ outcome: 'skipped', ended: null });
  await openGate(app.services, await carrier(run), 0);
  expect((await linesOf(run))?.[0]?.fields).toEqual(['Severity: p2 → Very high']);
  expect((await approve(run)).status).toBe(200);
  expect(await perform(run)).toMatchObject({ outcome: 'succeeded' });
  expect(await taskNow()).toMatchObject({ custom_fields: { severity: 'p1' } });
});

it('a card shows the values of custom fields that a yes would replace now, also of one that was as wanted', async () => {
  const points = await createField(app, team, 'number', { name: 'Points lost' });
  const set = (field: TestField, value: unknown) => setFields(app, team, [{ field, task_id: task.task_id, value }]);
  await set(points, 3);
  const run = await openedRun([
    { ...GATE, params: { role: 'manager' } },
    change({ custom_fields: { severity: 'p2', 'Points lost': 3 } }),
  ]);
  expect((await linesOf(run))?.[0]?.fields).toContain('Severity: null → p2');
  await setSeverity('p1');
  await set(points, 5);
  expect((await linesOf(run))?.[0]?.fields).toEqual(['Points lost: 5 → 3', 'Severity: Very high → p2']);
});

it('an id of a field that is gone is not the name of another one', async () => {
  const { field_id } = severity;
  const run = await openedRun([GATE, change({ custom_fields: { severity: 'p1' } })]);
  await app.as(team.manager).delete(`/api/custom-fields/${field_id}`);
  await createField(app, team, 'text', { name: field_id });
  expect((await approve(run)).status).toBe(200);
  expect(await perform(run)).not.toMatchObject({ outcome: 'succeeded' });
  expect(await db()('custom_field_values').where({ entity_id: task.task_id })).toEqual([]);
});

it('two fields of one name are a question for the key of one', async () => {
  await createField(app, team, 'text', { name: 'severity', key: 'other' });
  const run = await openedRun([
    GATE,
    change({ custom_fields: { Severity: 'p1' } }),
    change({ custom_fields: { severity: 'p1' } }),
  ]);
  expect((await linesOf(run))?.map(({ refused }) => refused)).toEqual([
    expect.stringContaining('Several fields are called “Severity”: use the key of one'),
    null,
  ]);
});
