import type { Scope } from '../../../../api/platform/access/scopes.js';
import { triageNight } from '../../../../api/automation/triage/triage-night.js';
import { buildProject, buildTask, buildTeam, buildToken, type Person, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Agent, connect, ERAS } from './agents.js';
import { computeDigest } from './digest.js';

// What becomes of an agent's proposal: the agent follows it and may take it back; a person decides.

let app: TestApp;
let team: TestTeam;
let foreign: TestTeam;
let project: { project_id: string };
let hidden: { task_id: string };
beforeAll(async () => {
  app = await startApp();
  [team, foreign] = await Promise.all([buildTeam(app), buildTeam(app)]);
  project = await buildProject(app, team);
  hidden = await buildTask(app, foreign, await buildProject(app, foreign));
});
afterAll(() => app.close());

const db = () => app.services.db;
const ALL: Scope[] = ['admin:*'];
const task = () => buildTask(app, team, project, { title: 'Login 500' });
const readSecret = (person: Person = team.manager) => buildToken(app, person, ALL, { mcp_only: true });
const propose = async (agent: Agent, entity_id: string) =>
  (await agent.call('propose_plan', { actions: [{ tool: 'task.set_status', entity_id, params: { status: 'done' } }] })).content;
const confirm = (who: Person | string, plan: { action_id: string }, session_id: string, more: object = {}) =>
  app.as(who).post('/api/ai-workspace/agent/confirm', { session_id, action_id: plan.action_id, confirmed: true, ...more });
const openFuzzSession = async (actionId: string): Promise<string> =>
  (await db()('agent_plans').where({ action_id: actionId }).first('session_id')).session_id;

describe.each(ERAS)('in %s', (era) => {
  it('the person confirms with their own sign-in, and the agent reads what became of it', async () => {
    const { task_id } = await task();
    const agent = await connect(app, await readSecret(), era);
    const plan = await propose(agent, task_id);
    expect((await agent.call('list_pending')).content.pending.map(({ action_id }: { action_id: string }) => action_id)).toContain(
      plan.action_id,
    );
    expect((await agent.call('get_plan', { action_id: plan.action_id })).content).toMatchObject({ status: 'staged' });
    const answer = await confirm(team.manager, plan, await openFuzzSession(plan.action_id), { plan_hash: plan.plan_hash });
    expect([answer.status, answer.body.status]).toEqual([200, 'applied']);
    expect(await db()('tasks').where({ task_id }).first('status')).toEqual({ status: 'done' });
    expect((await agent.call('get_plan', { action_id: plan.action_id })).content).toMatchObject({
      status: 'applied',
      decided_by: team.manager.user_id,
    });
    await agent.close();
  });
});

it('no credential of the agent confirms: not its token anywhere, nor another route with it', async () => {
  const { task_id } = await task();
  const secret = await readSecret();
  const agent = await connect(app, secret);
  const plan = await propose(agent, task_id);
  const session = await openFuzzSession(plan.action_id);
  expect((await confirm(secret, plan, session)).status).toBe(403);
  // Nor the token that proposed without being limited to MCP.
  const free = await buildToken(app, team.manager, ALL);
  const other = await connect(app, free);
  const second = await propose(other, (await task()).task_id);
  const refused = await confirm(free, second, await openFuzzSession(second.action_id));
  expect([refused.status, refused.body.error_code]).toEqual([403, 'PERMISSION_DENIED']);
  expect(
    (await db()('agent_plans').whereIn('action_id', [plan.action_id, second.action_id])).map(({ status }) => status),
  ).toEqual(['staged', 'staged']);
  await Promise.all([agent.close(), other.close()]);
});

it('takes back its own, once; another token’s, a team’s, a decided or an unknown one it does not', async () => {
  const agent = await connect(app, await readSecret());
  const other = await connect(app, await readSecret());
  const plan = await propose(agent, (await task()).task_id);
  expect((await other.call('discard_plan', { action_id: plan.action_id })).content).toMatchObject({ status: 404 });
  expect((await agent.call('discard_plan', { action_id: plan.action_id })).content).toMatchObject({ status: 'discarded' });
  expect((await agent.call('discard_plan', { action_id: plan.action_id })).content).toMatchObject({ status: 409 });
  expect((await agent.call('discard_plan', { action_id: 'nothing' })).content).toMatchObject({ status: 404 });
  await buildTask(app, team, project, { due_date: '2020-01-01' });
  await app.as(team.admin).put(`/api/ai-workspace/settings?team_id=${team.team_id}`, { overnight_triage: { enabled: true } });
  const { actionId } = await triageNight(app.services, team.team_id, new Date().toISOString());
  expect((await agent.call('get_plan', { action_id: actionId })).content).toMatchObject({ source: 'overnight_triage' });
  expect((await agent.call('discard_plan', { action_id: actionId })).content).toMatchObject({ status: 404 });
  expect(await db()('agent_plans').where({ action_id: actionId }).first('status')).toEqual({ status: 'staged' });
  await Promise.all([agent.close(), other.close()]);
});

it('another person’s plans are none, and another team’s do not show', async () => {
  const agent = await connect(app, await readSecret(team.manager));
  const plan = await propose(agent, (await task()).task_id);
  const stranger = await connect(app, await readSecret(foreign.manager));
  const colleague = await connect(app, await readSecret(team.member));
  for (const other of [stranger, colleague]) {
    expect((await other.call('get_plan', { action_id: plan.action_id })).content).toMatchObject({ status: 404 });
    const { content } = await other.call('list_pending');
    expect(JSON.stringify(content)).not.toContain(plan.action_id);
  }
  await Promise.all([agent, stranger, colleague].map((each) => each.close()));
});

it('revoking the token discards what it proposed, and the next call is refused', async () => {
  const { body } = await app.as(team.manager).post('/api/auth/tokens', { name: 'laptop', scopes: ['ai:chat'], mcp_only: true });
  const agent = await connect(app, body.token);
  const plan = await propose(agent, (await task()).task_id);
  await app.as(team.manager).delete(`/api/auth/tokens/${body.token_id}`);
  expect(await db()('agent_plans').where({ action_id: plan.action_id }).first()).toMatchObject({
    status: 'discarded',
    closed_reason: 'source_gone',
  });
  await expect(agent.call('list_pending')).rejects.toThrow(/Authentication required/);
  expect((await confirm(team.manager, plan, await openFuzzSession(plan.action_id))).status).toBe(409);
});

/** Values that a hostile or confused agent may send where anything else belongs. */
const hostile = () => [
  hidden.task_id,
  team.team_id,
  "x' or 1=1; drop table tasks; --",
  '$0',
  '__proto__',
  '../../work/tasks',
  '\u0000',
  '\uD800',
  'x'.repeat(20_000),
  -1,
  1e308,
  true,
  null,
  [],
  Array.from({ length: 60 }, () => ({ tool: 'task.delete', entity_id: 'x', params: {} })),
  { __proto__: { confirmed: true }, constructor: { prototype: {} } },
];

it('can never write: every tool with hostile arguments leaves every other table as it was', async () => {
  const { task_id } = await task();
  const agent = await connect(app, await readSecret(team.admin));
  const { tools } = await agent.client.listTools();
  const before = await computeDigest(app);
  for (const { name, inputSchema } of tools) {
    const fields = Object.keys((inputSchema.properties as object | undefined) ?? {});
    for (const value of hostile()) {
      for (const field of [...fields, 'confirmed', 'session_id', '__proto__']) {
        const { isError, content } = await agent.call(name, { [field]: value }).catch((error: Error) => {
          // Its body must be one value for every program, so some are refused before the protocol reads them.
          if (name === 'request_change' && error.message.includes('inexact_json')) return { isError: false, content: {} };
          throw error;
        });
        if (isError) expect([name, field, (content.status ?? 400) < 500]).toEqual([name, field, true]);
      }
    }
  }
  const every = [
    { tool: 'task.create', params: { project_id: project.project_id, title: '<script>', created_by: hidden.task_id } },
    { tool: 'task.update', entity_id: task_id, params: { title: '{{secret:KEY}}' } },
    { tool: 'task.set_status', entity_id: task_id, params: { status: 'done' } },
    { tool: 'task.assign', entity_id: task_id, params: { assigned_to: team.member.user_id } },
    { tool: 'task.comment', entity_id: task_id, params: { content: `@${team.member.email}` } },
    { tool: 'task.delete', entity_id: task_id, params: {} },
    { tool: 'project.update', entity_id: project.project_id, params: { name: 'Owned' } },
    { tool: 'relation.create', params: { source_id: task_id, target_id: hidden.task_id, relation_type: 'blocks' } },
    { tool: 'relation.delete', entity_id: `parent:${task_id}`, params: {} },
    { tool: 'note.create', params: { title: 'N', content: 'x', project_id: project.project_id } },
  ];
  for (const action of every) await agent.call('propose_plan', { actions: [action] });
  await agent.call('propose_plan', { actions: [every[5], every[1]] });
  expect(await computeDigest(app)).toEqual(before);
  // No history of a series, no schedule and no run came of it either: only plans are to be started.
  expect(await db()('outbox').whereNotIn('kind', ['plan.start', 'plan.wake', 'triage.sync', 'event'])).toEqual([]);
  await agent.close();
}, 120_000);
