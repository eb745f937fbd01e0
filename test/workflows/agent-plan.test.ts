import type { Client } from '@temporalio/client';
import { maintenanceActivities } from '../../activities/maintenance.js';
import type { RunningWorker } from '../../activities/worker/start-worker.js';
import { planWorkflowId } from '../../workflows/contracts/plan-contract.js';
import { SEARCH_ATTRIBUTES } from '../../workflows/search-attributes.js';
import { buildSession, staged } from '../factories/agent.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import type { TestApp } from '../support/app.js';
import { readKept } from '../support/histories.js';
import { until, startWithWorker } from '../support/worker.js';
import { PLAN_ENDS, playPlan } from './record-plan.js';

let app: TestApp;
let worker: RunningWorker;
let temporal: Client;
let end: () => Promise<void>;
let team: TestTeam;
let project: { project_id: string };

beforeAll(async () => {
  ({ app, temporal, end, worker } = await startWithWorker());
});
afterAll(() => end());
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
  // The filter of docs/operate/runs.md finds it.
  const query = `RunState="paused" AND GateState="pending" AND ExecutionStatus="Running" AND EntityId="${action_id}"`;
  await until(async () => (await temporal.workflow.count(query)).count === 1);
  await until(async () => (await handle.fetchHistory()).events?.some((event) => event.timerStartedEventAttributes));
  // Its title and its comment.
  expect(await readKept(handle)).not.toContain('secret');
});

it.each(PLAN_ENDS)('ends when its plan is %s', async (end) => {
  const workflowId = await playPlan({ app, team, project, temporal }, end);
  const { [end]: state = end } = { lapsed: 'expired', restarted: 'applied', followed: 'applied' } as Record<string, string>;
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

it('a deleted team closes what waits in it, ends the workflows, and keeps no word of its sessions', async () => {
  const task = await buildTask(app, team, project, { title: 'A secret title' });
  const session = await buildSession(app, team, { kind: 'automation', title: 'A secret name' });
  const comment = { tool: 'task.comment' as const, entity_id: task.task_id, params: { content: 'A secret comment' } };
  const ofTeam = await staged(app, team.manager, [comment], { session, source: 'automation', lifeHours: 168 });
  // Another team's plan, and a conversation that would change something in both.
  const other = await buildTeam(app);
  await db()('memberships').insert({ team_id: other.team_id, user_id: team.member.user_id, role: 'member' });
  const elsewhere = await buildTask(app, { ...other, member: team.member }, await buildProject(app, other));
  const { session_id } = session;
  const talk = await buildSession(app, team.member);
  const ofMember = await staged(app, team.member, [comment, { ...comment, entity_id: elsewhere.task_id }], { session: talk });
  const ofOther = await staged(app, team.member, [{ ...comment, entity_id: elsewhere.task_id }]);
  // A model still works on an answer for the team.
  const [message] = await db()('agent_messages')
    .insert({ session_id, role: 'user', content: 'A secret instruction' })
    .returning<{ message_id: string }[]>('message_id');
  const turn = { message_id: message?.message_id, session_id, provider: 'anthropic', state: 'running', claimed_by: 'a-worker' };
  const { user_id } = team.manager;
  await db()('agent_turns').insert({ ...turn, user_id, team_id: team.team_id, correlation_id: ofTeam.action_id });
  await db()('agent_steps').insert({ message_id: turn.message_id, step: 0, content: { text: 'A secret answer' } });
  await db()('agent_links').insert({ session_id, item_type: 'task', item_id: task.task_id, linked_by: user_id });
  const ids = [ofTeam.action_id, ofMember.action_id, ofOther.action_id];
  for (const id of ids) await until(() => isOpen(id));

  await app.as(team.admin).delete(`/api/projects/${project.project_id}`);
  expect((await app.as(team.admin).delete(`/api/teams/${team.team_id}`)).status).toBe(200);

  const closed = { status: 'discarded', closed_reason: 'source_gone', decided_at: expect.any(Date) };
  expect(await Promise.all(ids.map(planRow))).toMatchObject([closed, closed, { status: 'staged', closed_reason: null }]);
  for (const id of ids.slice(0, 2)) {
    expect(await temporal.workflow.getHandle(planWorkflowId(id)).result()).toMatchObject({
      state: 'discarded',
      reason: 'source_gone',
    });
    expect(await db()('audit_entries').where({ entity_id: id, action: 'discard' })).toMatchObject([
      { user_id: team.admin.user_id },
    ]);
  }
  expect(await isOpen(ofOther.action_id)).toBe(true);
  expect(await db()('agent_turns').where({ session_id })).toEqual([]);
  expect(await db()('agent_steps').where({ message_id: turn.message_id })).toEqual([]);
  expect(await db()('agent_messages').where({ session_id })).toEqual([]);
  expect(await db()('agent_links').where({ session_id })).toEqual([]);
  expect(await db()('agent_sessions').where({ session_id }).first()).toMatchObject({ title: '', deleted_at: expect.any(Date) });
  const confirm = { session_id, action_id: ofTeam.action_id, confirmed: true };
  expect((await app.as(team.manager).post('/api/ai-workspace/agent/confirm', confirm)).status).toBe(404);
  const { pending } = (await app.as(team.member).get('/api/ai-workspace/agent/pending')).body;
  expect(pending.map(({ action_id }: { action_id: string }) => action_id)).not.toContain(ofTeam.action_id);
  // The rows of the plans go ninety days later, like those of any plan that has ended.
  const past = db().raw("now() - interval '91 days'");
  await db()('agent_plans').whereIn('action_id', ids.slice(0, 2)).update({ decided_at: past });
  await maintenanceActivities(app.services).runMaintenanceJob('plan-history');
  expect(await db()('agent_plans').whereIn('action_id', ids).pluck('action_id')).toEqual([ofOther.action_id]);
  expect(await db()('agent_actions').whereIn('action_id', ids.slice(0, 2))).toEqual([]);
});

it('the reconciler starts what is missing and ends what is left over', async () => {
  const [lost, over] = [await stageDeletion(), await stageDeletion()];
  for (const { action_id } of [lost, over]) await until(() => isOpen(action_id));
  await until(async () => (await db()('outbox').whereIn('subject', [lost.action_id, over.action_id])).length === 0);
  await temporal.workflow.getHandle(planWorkflowId(lost.action_id)).terminate('lost');
  // Temporal's list of what runs may be a moment old.
  const listed = `ExecutionStatus="Running" AND EntityId="${lost.action_id}"`;
  await until(async () => (await temporal.workflow.count(listed)).count === 0);
  await worker.reconcile();
  await until(() => isOpen(lost.action_id));
  expect((await planRow(lost.action_id)).incarnation).toBe(2);
});
