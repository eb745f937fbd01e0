import { Client, Connection } from '@temporalio/client';
import { maintenanceActivities } from '../../activities/maintenance.js';
import type { RunningWorker } from '../../activities/worker/start-worker.js';
import { planWorkflowId } from '../../workflows/contract.js';
import { SEARCH_ATTRIBUTES } from '../../workflows/search-attributes.js';
import { buildSession, staged } from '../factories/agent.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { queuePrefix, runWorker, until } from '../support/worker.js';
import { PLAN_ENDS, playPlan } from './record-plan.js';

let app: TestApp;
let worker: RunningWorker;
let connection: Connection;
let temporal: Client;
let team: TestTeam;
let project: { project_id: string };

beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix() });
  worker = await runWorker(app);
  connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  temporal = new Client({ connection });
});
afterAll(async () => {
  await worker.stop();
  await connection.close();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
});

const db = () => app.services.db;
const planRow = (action_id: string) => db()('agent_plans').where({ action_id }).first();
const isOpen = async (action_id: string) =>
  (
    await temporal.workflow
      .getHandle(planWorkflowId(action_id))
      .describe()
      .catch(() => undefined)
  )?.status.name === 'RUNNING';
const stageDeletion = async () => {
  const task = await buildTask(app, team, project, { title: 'A secret title' });
  await buildTask(app, team, project, { parent_task_id: task.task_id });
  const session = await buildSession(app, team, { kind: 'automation' });
  const actions = [
    { tool: 'task.comment' as const, entity_id: task.task_id, params: { content: 'A secret comment' } },
    { tool: 'task.delete' as const, entity_id: task.task_id, params: {} },
  ];
  return staged(app, team.manager, actions, { session, source: 'automation', lifeHours: 168, depth: 2 });
};

it('a staged plan waits as a workflow that an operator can find and read, without a word of its contents', async () => {
  const { action_id } = await stageDeletion();
  await until(() => isOpen(action_id));
  const handle = temporal.workflow.getHandle(planWorkflowId(action_id));
  const described = await handle.describe();
  expect(await described.staticSummary()).toBe('Plan: 2 changes, 1 high');
  const attribute = (key: keyof typeof SEARCH_ATTRIBUTES) => described.typedSearchAttributes.get(SEARCH_ATTRIBUTES[key] as never);
  expect(attribute('Process')).toBe('agent_plan');
  expect([attribute('RunState'), attribute('GateState')]).toEqual(['paused', 'pending']);
  expect(attribute('GateExpiresAt')).toEqual((await planRow(action_id)).expires_at);
  expect([attribute('TeamId'), attribute('EntityId'), attribute('TriggerType'), attribute('Depth')]).toEqual([
    team.team_id,
    action_id,
    'event',
    2,
  ]);
  // The saved query of the runbook finds it.
  const query = `RunState="paused" AND GateState="pending" AND ExecutionStatus="Running" AND EntityId="${action_id}"`;
  await until(async () => (await temporal.workflow.count(query)).count === 1);
  const history = JSON.stringify(
    await until(async () => {
      const { events } = await handle.fetchHistory();
      return events?.some(({ timerStartedEventAttributes }) => timerStartedEventAttributes) && events;
    }),
  );
  expect(history).not.toContain('secret');
});

it.each(PLAN_ENDS)('ends when its plan is %s', async (end) => {
  const workflowId = await playPlan({ app, team, project, temporal }, end);
  const state = { applied: 'applied', discarded: 'discarded', stale: 'stale', lapsed: 'expired', restarted: 'applied' }[end];
  const { status } = await planRow(workflowId.slice('plan:'.length));
  expect(status).toBe(state);
  expect(await temporal.workflow.getHandle(workflowId).result()).toMatchObject({ state });
});

it('reminds once, those who may confirm, in the app and by mail', async () => {
  const { action_id } = await stageDeletion();
  await db()('agent_plans')
    .where({ action_id })
    .update({ remind_at: db().raw("now() - interval '1 second'") });
  const wake = async () =>
    db()('outbox').insert({
      kind: 'plan.wake',
      subject: action_id,
      payload: { action_id, incarnation: 1 },
      correlation_id: action_id,
    });
  await wake();
  await until(async () => (await planRow(action_id)).reminded_at);
  await wake();
  await until(async () => (await db()('outbox').where({ kind: 'plan.wake', subject: action_id })).length === 0);
  const told = await db()('notifications').where({ kind: 'plan_reminder', team_id: team.team_id }).pluck('user_id');
  expect(new Set(told)).toEqual(new Set([team.admin.user_id, team.manager.user_id]));
  expect(told).toHaveLength(2);
  expect(await db()('mails').where({ recipient: team.manager.email })).toHaveLength(1);
});

it('the maintenance job expires plans whose workflow is not there, each with one entry', async () => {
  const { action_id } = await stageDeletion();
  const { action_id: later } = await stageDeletion();
  await db()('agent_plans')
    .where({ action_id })
    .update({ expires_at: db().raw("now() - interval '1 minute'") });
  const jobs = maintenanceActivities(app.services);
  await Promise.all([1, 2, 3].map(() => jobs.runMaintenanceJob('agent-plans')));
  expect((await planRow(action_id)).status).toBe('expired');
  expect((await planRow(later)).status).toBe('staged');
  expect(await db()('audit_entries').where({ entity_id: action_id, action: 'expire' })).toMatchObject([
    { actor_type: 'system', team_id: team.team_id },
  ]);
});

it('the reconciler starts what is missing and ends what is left over', async () => {
  const [lost, over] = [await stageDeletion(), await stageDeletion()];
  for (const { action_id } of [lost, over]) await until(() => isOpen(action_id));
  await until(async () => (await db()('outbox').whereIn('subject', [lost.action_id, over.action_id])).length === 0);
  await temporal.workflow.getHandle(planWorkflowId(lost.action_id)).terminate('lost');
  await until(async () => !(await isOpen(lost.action_id)));
  await worker.reconcile();
  await until(() => isOpen(lost.action_id));
  expect((await planRow(lost.action_id)).incarnation).toBe(2);
});
