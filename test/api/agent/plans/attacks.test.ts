import type { ProposedAction } from '../../../../api/agent/plans/proposal.js';
import { planHash, type PlanContent } from '../../../../api/agent/plans/plan-content.js';
import { canonicalJson } from '../../../../api/gate/staging/canonical.js';
import { buildSession, stage, staged } from '../../../factories/agent.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

// Attacks on plans: what a person reads is what happens, whoever else acts in between.

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
});

const db = () => app.services.db;
const act = (tool: ProposedAction['tool'], params: Record<string, unknown>, entity_id?: string): ProposedAction => ({
  tool,
  params,
  ...(entity_id && { entity_id }),
});
const task = (title: string, parent_task_id: string | null = null) => buildTask(app, team, project, { title, parent_task_id });
const taskRow = (task_id: string) => db()('tasks').where({ task_id }).first();
const patch = (task_id: string, fields: Record<string, unknown>) => app.as(team.manager).patch(`/api/tasks/${task_id}`, fields);
const planRow = (action_id: string) => db()('agent_plans').where({ action_id }).first();
const confirm = async (
  by: { token: string } | string,
  { action_id }: { action_id: string },
  fields: Record<string, unknown> = {},
) =>
  app.as(by).post('/api/ai-workspace/agent/confirm', { session_id: (await planRow(action_id)).session_id, action_id, ...fields });
const ofTeam = async (actions: ProposedAction[], by: Person = team.member) =>
  staged(app, by, actions, {
    session: await buildSession(app, team, { kind: 'automation' }),
    source: 'automation',
    lifeHours: 168,
  });

describe('the descendants of a task', () => {
  it('is deleted only as far as the plan has told', async () => {
    const parent = await task('Parent');
    const plan = await ofTeam([act('task.delete', {}, parent.task_id)]);
    expect(plan.actions[0]).toMatchObject({ risk: 'medium', after: null });
    const child = await task('Child', parent.task_id);
    const answer = await confirm(team.member, plan);
    expect(answer).toMatchObject({ status: 409, body: { action_index: 0 } });
    expect([(await taskRow(child.task_id)).deleted_at, (await planRow(plan.action_id)).status]).toEqual([null, 'staged']);
  });

  it('is not deleted by leaving out the action that moved it away', async () => {
    const parent = await task('Parent');
    const child = await task('Child', parent.task_id);
    const plan = await ofTeam([
      act('task.update', { parent_task_id: null }, child.task_id),
      act('task.delete', {}, parent.task_id),
    ]);
    expect(plan.actions[1]).toMatchObject({ risk: 'medium', after: null });
    const answer = await confirm(team.member, plan, { action_indexes: [1] });
    expect(answer.status).toBe(409);
  });

  it('moves to another project only as far as the plan has told', async () => {
    const other = await buildProject(app, team);
    const parent = await task('Parent');
    const plan = await staged(app, team.member, [act('task.update', { project_id: other.project_id }, parent.task_id)]);
    await task('Child', parent.task_id);
    const answer = await confirm(team.member, plan);
    expect(answer.status).toBe(409);
  });
});

it('a plan cannot rename a task and then show it under that name', async () => {
  const victim = await task('Payroll');
  const plan = await staged(app, team.member, [
    act('task.update', { title: 'Old junk' }, victim.task_id),
    act('task.delete', {}, victim.task_id),
  ]);
  expect(plan.actions).toMatchObject([{ title: 'Old junk', before: { title: 'Payroll' } }, { title: 'Payroll' }]);
  // Alone, the deletion would be of a task with a title that its fields do not show.
  const answer = await confirm(team.member, plan, { action_indexes: [1] });
  expect(answer).toMatchObject({ status: 409, body: { action_index: 1 } });
  expect((await confirm(team.member, plan)).status).toBe(200);
});

describe('the parent', () => {
  it('that is taken away is the one that was shown', async () => {
    const [one, two] = [await task('One'), await task('Two')];
    const child = await task('Child', one.task_id);
    const plan = await staged(app, team.member, [act('relation.delete', {}, `parent:${child.task_id}`)]);
    expect((await patch(child.task_id, { parent_task_id: two.task_id })).status).toBe(200);
    const answer = await confirm(team.member, plan);
    expect(answer).toMatchObject({ status: 409, body: { action_index: 0 } });
  });
  it('that is replaced is the one that was shown', async () => {
    const [one, two, three] = [await task('One'), await task('Two'), await task('Three')];
    const child = await task('Child', one.task_id);
    const plan = await staged(app, team.member, [
      act('relation.create', { source_id: three.task_id, target_id: child.task_id, relation_type: 'parent_child' }),
    ]);
    expect((await patch(child.task_id, { parent_task_id: two.task_id })).status).toBe(200);
    const answer = await confirm(team.member, plan);
    expect(answer).toMatchObject({ status: 409, body: { action_index: 0 } });
  });
});

it.each([
  ['a field that is no longer accepted', { params: { priority: 'enormous' } }],
  ['a tool that is gone', { tool: 'task.archive' }],
  ['an id of another form', { entity_id: 'x y' }],
])('a plan of an earlier version with %s is refused, not a fault', async (_what, change) => {
  const { task_id } = await task('Login 500');
  const plan = await staged(app, team.member, [act('task.update', { priority: 'high' }, task_id)]);
  const content = JSON.parse((await planRow(plan.action_id)).canonical) as PlanContent;
  const text = canonicalJson({ ...content, actions: content.actions.map((action) => ({ ...action, ...change })) });
  await db()('agent_plans')
    .where({ action_id: plan.action_id })
    .update({ canonical: text, plan_hash: planHash(text) });
  const answer = await confirm(team.member, plan);
  expect(answer.status).toBeLessThan(500);
});

it.each(['\u3164', '\u{e0101}', '\u{e0000}', '\u115f', '\u034f', '\u{1d173}', '\ufe01', '\u{e0fff}'])(
  'refuses %j',
  async (hidden) => {
    const { task_id } = await task('Login 500');
    await expect(stage(app, team.member, [act('task.comment', { content: `fine${hidden}` }, task_id)])).rejects.toThrow(
      'hidden character',
    );
  },
);

it('a plan that creates all kinds of fields is confirmed as staged', async () => {
  const plan = await staged(app, team.member, [
    act('task.create', {
      title: ' T ',
      project_id: project.project_id,
      due_date: '2026-12-01T23:00:00Z',
      status: 'In-Progress',
      priority: ' HIGH',
      tags: ['A', 'a ', 'b'],
      estimated_hours: -0,
      recurrence: { rule: 'FREQ=DAILY', mode: 'on_complete', timezone: 'europe/berlin' },
    }),
    act('task.update', { parent_task_id: null, actual_hours: 1.5, position: 1e-7 }, (await task('Login 500')).task_id),
    act('note.create', { title: 'N', project_id: project.project_id, content: 'x', kind: 'idea' }),
  ]);
  const answer = await confirm(team.member, plan);
  expect(answer.status).toBe(200);
});

it('a part of the changes of one task is applied, as long as it does what was shown', async () => {
  const { task_id } = await task('Login 500');
  const actions = [
    act('task.set_status', { status: 'in_review' }, task_id),
    act('task.update', { priority: 'high' }, task_id),
    act('task.set_status', { status: 'done' }, task_id),
  ];
  const plan = await staged(app, team.member, actions);
  expect(await confirm(team.member, plan, { action_indexes: [1, 2] })).toMatchObject({ status: 409, body: { action_index: 2 } });
  expect((await confirm(team.member, plan, { action_indexes: [1] })).status).toBe(200);
  expect(await taskRow(task_id)).toMatchObject({ status: 'todo', priority: 'high' });
});

it('a relation across projects, which replaces no parent, is confirmed', async () => {
  const [one, two] = [await task('One'), await task('Two')];
  const elsewhere = await buildTask(app, team, await buildProject(app, team));
  const relate = (source_id: string, target_id: string) =>
    act('relation.create', { source_id, target_id, relation_type: 'parent_child' });
  const child = await task('Child', one.task_id);
  const plan = await staged(app, team.member, [
    relate(elsewhere.task_id, child.task_id),
    relate(two.task_id, child.task_id),
    act('task.create', { title: 'New', project_id: project.project_id, parent_task_id: two.task_id }),
    relate(one.task_id, '$2'),
    act('relation.delete', {}, `parent:${child.task_id}`),
  ]);
  expect((await confirm(team.member, plan)).status).toBe(200);
});

it('completing a recurring task tells that another one follows', async () => {
  const recurrence = { rule: 'FREQ=DAILY', mode: 'on_complete', timezone: 'UTC' };
  const fields = { title: 'Daily', project_id: project.project_id, due_date: '2026-12-01', recurrence };
  const { body } = await app.as(team.member).post('/api/tasks', fields);
  const plan = await staged(app, team.member, [act('task.set_status', { status: 'done' }, body.task_id)]);
  expect(plan.actions[0]).toMatchObject({ after: { status: 'done', next_occurrence: true }, reversible: false });
});

it('an undo tells how many tasks come back, and takes nothing else along later', async () => {
  const parent = await task('Parent');
  const child = await task('Child', parent.task_id);
  const plan = await staged(app, team.member, [act('task.delete', {}, parent.task_id)]);
  expect((await confirm(team.member, plan)).status).toBe(200);
  const undo = await app.as(team.member).post(`/api/ai-workspace/agent/plans/${plan.action_id}/undo`, {});
  expect(undo.body.actions[0]).toMatchObject({ tool: 'task.restore', after: { subtasks_restored: 1 } });
  expect((await confirm(team.member, undo.body)).status).toBe(200);
  expect((await taskRow(child.task_id)).deleted_at).toBeNull();
});

it('a comment that was edited is not deleted as the one that was shown', async () => {
  const { task_id } = await task('Login 500');
  const plan = await staged(app, team.member, [act('task.comment', { content: 'First words' }, task_id)]);
  const { body } = await confirm(team.member, plan);
  const undo = await app.as(team.member).post(`/api/ai-workspace/agent/plans/${plan.action_id}/undo`, {});
  const edited = await app.as(team.member).patch(`/api/comments/${body.results[0].entity_id}`, { content: 'Other words' });
  expect(edited.status).toBe(200);
  expect(await confirm(team.member, undo.body)).toMatchObject({ status: 409, body: { action_index: 0 } });
});
