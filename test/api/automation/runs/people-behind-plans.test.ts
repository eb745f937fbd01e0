import { answerByRules } from '../../../../api/agent/turns/answer-by-rules.js';
import { triageFailure } from '../../../../api/automation/triage/triage-failure.js';
import { performOutbound } from '../../../../api/automation/runs/execution/perform-outbound.js';
import { buildSession, staged } from '../../../factories/agent.js';
import { buildPerson, type Person } from '../../../factories/people.js';
import { type KillableRelay, openRelay } from '../../../outbox/support.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { until } from '../../../support/worker.js';
import { relay as relayDeliveries, send } from '../../integrations/forge/deliver.js';
import { carrier, GatedTeam } from './gated-team.js';

// Whoever is behind a plan is behind the runs that its changes start, although somebody else confirms it.

let app: TestApp;
let relay: KillableRelay;
let world: GatedTeam;
let manager: Person;
let member: Person;
let admin: Person;

beforeAll(async () => {
  app = await startApp({ FORGE_WEBHOOK_SECRET: 'shared', FORGE_BINDING: 'open' });
  relay = openRelay(app);
});
afterAll(async () => {
  await relay.close();
  await app.close();
});
beforeEach(async () => {
  world = await GatedTeam.build(app, relay);
  ({ manager, member, admin } = world.team);
});

const db = () => app.services.db;
const findPlan = (where: object) => db()('agent_plans').where(where).orderBy('staged_at', 'desc').first();
const confirm = async (by: Person, { action_id, session_id }: { action_id: string; session_id: string }) => {
  const answer = await app.as(by).post('/api/ai-workspace/agent/confirm', { session_id, action_id });
  expect(answer.status).toBe(200);
};
/** The plan of a run of the member's automation, which the manager has started. */
const planOfRun = async (instruction: string, link: object[]) => {
  const asks = { trigger_type: 'manual', actions: [{ type: 'run_agent', params: { instruction, link } }] };
  const run = await world.execute(manager, await world.make(asks));
  expect(await performOutbound(app.services, carrier(run), 0)).toMatchObject({ outcome: 'succeeded' });
  const plan = await findPlan({ team_id: world.team.team_id });
  expect(plan.behind_user_ids.toSorted()).toEqual([manager.user_id, member.user_id].toSorted());
  return plan;
};

describe('a plan for which a run has asked is of the people of the run', () => {
  it('in what its changes and its confirmation start, and in what its undo starts', async () => {
    const task = await world.task(member, { title: 'Login 500' });
    const plan = await planOfRun('close Login 500', [{ item_type: 'task', item_id: task.task_id }]);
    const [completed, applied] = [await world.gated('task.completed'), await world.gated('agent.plan_applied')];
    await confirm(admin, plan);
    await world.refuses(completed, manager, admin);
    await world.refuses(applied, manager, admin);
    const [changed, staging] = [await world.gated('task.status_changed'), await world.gated('agent.plan_staged')];
    const undo = await app.as(world.other).post(`/api/ai-workspace/agent/plans/${plan.action_id}/undo`, {});
    expect(undo.status).toBe(200);
    const inverse = await findPlan({ undo_of: plan.action_id });
    expect(inverse.behind_user_ids.toSorted()).toEqual(
      [manager, member, admin, world.other].map(({ user_id }) => user_id).toSorted(),
    );
    const second = await buildPerson(app);
    await db()('memberships').insert({ team_id: world.team.team_id, user_id: second.user_id, role: 'manager' });
    const stagedRun = await world.waiting(staging);
    for (const person of [manager, admin, world.other]) expect(await world.approve(person, stagedRun)).toBe(403);
    expect(await world.approve(second, stagedRun)).toBe(200);
    const third = await buildPerson(app);
    await db()('memberships').insert({ team_id: world.team.team_id, user_id: third.user_id, role: 'manager' });
    await confirm(third, inverse);
    const run = await world.waiting(changed);
    for (const person of [manager, admin, world.other, third]) expect(await world.approve(person, run)).toBe(403);
    expect(await world.approve(second, run)).toBe(200);
  });

  it('in a due date that it sets', async () => {
    const task = await world.task(member, { title: 'Login 500' });
    const plan = await planOfRun('set due date of Login 500 to 2026-12-01', [{ item_type: 'task', item_id: task.task_id }]);
    await confirm(admin, plan);
    const { due_set_by } = await db()('tasks').where({ task_id: task.task_id }).first();
    expect(due_set_by.toSorted()).toEqual([manager, member, admin].map(({ user_id }) => user_id).toSorted());
  });
});

it('a plan of a failed CI run is of who caused the failure, by their connected account', async () => {
  const repo = `acme/r${world.team.team_id.slice(-12)}`;
  const { team, project } = world;
  const binding = { repo, team_id: team.team_id, ...project, sync_issues: false };
  expect((await app.as(admin).post('/api/forge/repositories', binding)).status).toBe(201);
  await app.as(admin).put(`/api/ai-workspace/settings?team_id=${team.team_id}`, { ci_triage: { enabled: true } });
  const sealed = { scopes: [], data_key: Buffer.of(0), sealed_value: Buffer.of(0) };
  await db()('integration_connections').insert({ user_id: manager.user_id, provider: 'forge', account: 'MONA', ...sealed });
  await send(app, 'workflow_run.failed.on_pr', { 'repository.full_name': repo, 'sender.login': 'Mona' });
  await relayDeliveries(app);
  const { receipt_id } = await db()('forge_deliveries').where({ repo }).first();
  expect(await triageFailure(app.services, team.team_id, receipt_id)).toMatchObject({ outcome: 'proposed' });
  const plan = await findPlan({ team_id: team.team_id });
  expect(plan.behind_user_ids.toSorted()).toEqual([admin.user_id, manager.user_id].toSorted());
  const created = await world.gated('task.created');
  await confirm(member, plan);
  await world.refuses(created, manager, admin);
});

it('a plan from a chat is of the administrator who wrote while impersonating', async () => {
  const operator = await buildPerson(app, { role: 'admin' });
  await db()('memberships').insert({ team_id: world.team.team_id, user_id: operator.user_id, role: 'manager' });
  await db()('heartbeats')
    .insert({ process: 'worker:test', seen_at: new Date(Date.now() + 600_000), details: JSON.stringify({ temporal: true }) })
    .onConflict('process')
    .merge();
  const task = await world.task(member, { title: 'Login 500' });
  const acting = await app
    .as(operator)
    .post('/api/admin/impersonate', { user_id: member.user_id, reason: 'Looks into ticket 4711' });
  const impersonated = app.as(acting.body.token);
  const { session_id } = (await impersonated.post('/api/ai-workspace/sessions', {})).body;
  await impersonated.post(`/api/ai-workspace/sessions/${session_id}/link`, { item_type: 'task', item_id: task.task_id });
  const said = impersonated.post('/api/ai-workspace/chat', { session_id, message: 'close Login 500' });
  const message = await until<{ message_id: string }>(() => db()('agent_turns').where({ session_id }).first());
  await answerByRules(app.services, { messageId: message.message_id, incarnation: 1, execution: 'first' });
  await said;
  const plan = await findPlan({ session_id });
  expect(plan.behind_user_ids.toSorted()).toEqual([operator.user_id, member.user_id].toSorted());
  const completed = await world.gated('task.completed');
  await confirm(member, plan);
  await world.refuses(completed, operator);
});

it('a plan of an earlier version of the service, which stored nobody, is of whom it was staged for', async () => {
  const task = await world.task(member, {});
  const { action_id } = await staged(
    app,
    manager,
    [{ tool: 'task.set_status', entity_id: task.task_id, params: { status: 'done' } }],
    { session: await buildSession(app, { team_id: world.team.team_id }, { kind: 'automation' }) },
  );
  await db()('agent_plans').where({ action_id }).update({ behind_user_ids: '{}' });
  const completed = await world.gated('task.completed');
  await confirm(admin, await findPlan({ action_id }));
  await world.refuses(completed, manager, admin);
});
