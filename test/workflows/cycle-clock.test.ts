import type { Client } from '@temporalio/client';
import { cycles } from '../../activities/cycles.js';
import { completeDueCycle } from '../../api/work/cycles/completion/complete-due-cycle.js';
import { cycleWorkflowId } from '../../workflows/contracts/cycle-contract.js';
import { SEARCH_ATTRIBUTES } from '../../workflows/search-attributes.js';
import { buildAutomation } from '../factories/automations.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { createCycle, insertTasks } from '../api/work/cycles/support.js';
import type { TestApp } from '../support/app.js';
import { readKept } from '../support/histories.js';
import { until, untilRunIs, startWithWorker } from '../support/worker.js';
import { CYCLE_PLAYS, dayIn, isWaiting, playCycle, startedCycle } from './record-cycle.js';

let app: TestApp;
let temporal: Client;
let end: () => Promise<void>;
let team: TestTeam;
let project: { project_id: string };

beforeAll(async () => {
  ({ app, temporal, end } = await startWithWorker());
});
afterAll(() => end());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
});

const stage = () => ({ app, team, project, temporal });
const cycleRow = (cycle_id: string) => app.services.db('cycles').where({ cycle_id }).first();
const taskRow = (task_id = '') => app.services.db('tasks').where({ task_id }).first();
const dispatcher = () =>
  cycles.connect(temporal, {
    taskQueuePrefix: app.services.config.TASK_QUEUE_PREFIX,
    searchable: true,
    eager: false,
    giveUpHours: 24,
  });

it('a clock waits as a workflow that an operator can find and read, without a word of the cycle', async () => {
  const { cycle_id } = await startedCycle(stage());
  const handle = temporal.workflow.getHandle(cycleWorkflowId(cycle_id));
  const described = await handle.describe();
  expect(await described.staticSummary()).toBe(`Cycle 1, until ${dayIn(11)} 00:00 UTC`);
  const attribute = (key: keyof typeof SEARCH_ATTRIBUTES) => described.typedSearchAttributes.get(SEARCH_ATTRIBUTES[key] as never);
  expect([attribute('Process'), attribute('RunState'), attribute('TeamId'), attribute('EntityId')]).toEqual([
    'cycle',
    'waiting',
    team.team_id,
    cycle_id,
  ]);
  expect(attribute('NextAttemptAt')).toEqual(new Date(`${dayIn(11)}T00:00:00Z`));
  const query = `Process="cycle" AND ExecutionStatus="Running" AND EntityId="${cycle_id}"`;
  await until(async () => (await temporal.workflow.count(query)).count === 1);
  expect(await readKept(handle)).not.toContain('secret');
});

it.each(CYCLE_PLAYS)('ends when its cycle is %s', async (play) => {
  const workflowId = await playCycle(stage(), play);
  const row = await cycleRow(workflowId.slice('cycle:'.length));
  const state = play === 'switched-off' ? 'off' : 'completed';
  expect(await temporal.workflow.getHandle(workflowId).result()).toMatchObject({ state });
  expect(row.status).toBe(state === 'off' ? 'active' : 'completed');
});

it('completes without an actor, and counts the user who dated the cycle as a cause', async () => {
  const listening = await buildAutomation(app, team, {
    trigger_type: 'cycle.completed',
    actions: [{ type: 'create_note', params: { title: 'Retro of {{event.cycle.name}}' } }],
  });
  const next = await createCycle(app.as(team.member), project);
  const { cycle_id, task_ids } = await startedCycle(stage());
  await app.as(team.manager).patch(`/api/sprints/${cycle_id}`, { end_date: dayIn(-1) });
  const run = await untilRunIs(app, listening, 'succeeded');
  expect(run.event).toMatchObject({ actor_id: null, cycle: { cycle_id, snapshot: { completed: 1, carried_over: 1 } } });
  expect(new Set(run.cause_user_ids as unknown as string[])).toEqual(new Set([team.member.user_id, team.manager.user_id]));
  expect((await taskRow(task_ids[0])).cycle_id).toBe(next.cycle_id);
  const [entry] = await app.services.db('audit_entries').where({ entity_id: cycle_id, action: 'complete' });
  expect([entry.actor_type, entry.user_id]).toEqual(['system', null]);
});

it('an automation moves tasks to a cycle, and fails where a person could not', async () => {
  const member = app.as(team.member);
  const cycle = await createCycle(member, project);
  const moving = await buildAutomation(app, team, { actions: [{ type: 'move_to_cycle', params: { cycle_id: cycle.cycle_id } }] });
  const { task_id } = await buildTask(app, team, project);
  await untilRunIs(app, moving, 'succeeded');
  expect(await taskRow(task_id)).toMatchObject({ cycle_id: cycle.cycle_id, version: 2 });
  const [effect] = await app.services.db('effects').where({ entity_id: task_id });
  expect(effect).toMatchObject({ entity_type: 'task' });
  await buildTask(app, team, await buildProject(app, team));
  await untilRunIs(app, moving, 'failed');
});

it('a clock that was lost with the store of Temporal is started again, and one that waits for another time is woken', async () => {
  const { cycle_id } = await startedCycle(stage());
  const handle = temporal.workflow.getHandle(cycleWorkflowId(cycle_id));
  await handle.terminate('lost');
  await until(async () => (await temporal.workflow.count(`ExecutionStatus="Running" AND EntityId="${cycle_id}"`)).count === 0);
  expect(await dispatcher().reconcile(app.services)).toBe(1);
  await isWaiting(temporal, cycle_id);
  expect(await dispatcher().reconcile(app.services)).toBe(0);
  // A restored database: the row changes, and no outbox row says so.
  await app.services
    .db('cycles')
    .where({ cycle_id })
    .update({ end_date: dayIn(-1) });
  await app.services.db('outbox').where({ kind: 'cycle.clock', subject: cycle_id }).delete();
  await until(async () => {
    await dispatcher().reconcile(app.services);
    return (await cycleRow(cycle_id)).status === 'completed';
  });
});

it('20 workers and 5 people who complete a due cycle at once complete it once', async () => {
  const member = app.as(team.member);
  const { cycle_id } = await createCycle(member, project);
  const task_ids = await insertTasks(
    app,
    team,
    project,
    Array.from({ length: 40 }, (_, i) => ({ status: i % 2 ? 'done' : 'todo' })),
  );
  await member.post(`/api/sprints/${cycle_id}/tasks`, { task_ids });
  await member.post(`/api/sprints/${cycle_id}/start`);
  const { db } = app.services;
  await db('cycles')
    .where({ cycle_id })
    .update({ end_date: dayIn(-1), auto_complete: true });
  const views = await Promise.all([
    ...Array.from({ length: 20 }, () => completeDueCycle(app.services, cycle_id)),
    ...Array.from({ length: 5 }, () => member.post(`/api/sprints/${cycle_id}/complete`, {})),
  ]);
  expect(views.slice(0, 20).map((view) => (view as { state: string }).state)).toEqual(
    Array.from({ length: 20 }, () => 'completed'),
  );
  expect(await db('audit_entries').where({ entity_id: cycle_id, action: 'complete' })).toHaveLength(1);
  expect((await cycleRow(cycle_id)).snapshot).toMatchObject({ completed: 20, carried_over: 20 });
  expect(await db('tasks').whereIn('task_id', task_ids).where({ version: 3 })).toHaveLength(20);
});
