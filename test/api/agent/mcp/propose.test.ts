import type { Scope } from '../../../../api/platform/access/scopes.js';
import { buildProject, buildTask, buildTeam, buildToken, type Person, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Agent, connect, ERAS } from './agents.js';
import { computeDigest } from './digest.js';

// What an agent proposes over MCP.

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
  project = await buildProject(app, team);
});
afterAll(() => app.close());

const db = () => app.services.db;
const SCOPES: Scope[] = ['graph:read', 'tasks:read', 'projects:read', 'ai:chat'];
const connectAgent = async (person: Person = team.member, fields: Record<string, unknown> = {}): Promise<Agent> =>
  connect(app, await buildToken(app, person, SCOPES, { mcp_only: true, name: 'laptop', ...fields }));
const task = (title: string) => buildTask(app, team, project, { title });
const setStatus = (entity_id: string, status = 'in_progress') => ({ tool: 'task.set_status', entity_id, params: { status } });
const plans = (where: object) => db()('agent_plans').where(where);

describe.each(ERAS)('in %s', (era) => {
  it('stages a plan, changes nothing else, and answers with facts and the address to decide at', async () => {
    const { task_id } = await task('Login 500');
    const agent = await connect(app, await buildToken(app, team.member, SCOPES), era);
    const before = await computeDigest(app);
    const { isError, content } = await agent.call('propose_plan', {
      actions: [setStatus(task_id)],
      note: 'It is being worked on',
    });
    expect(isError).toBe(false);
    expect(content).toMatchObject({
      status: 'staged',
      summary: '1 status change',
      plan_hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      confirm_url: expect.stringMatching(/\/app\/approvals\/plan\/[0-9a-f-]{36}$/),
      actions: [{ entity_id: task_id, title: 'Login 500', before: { status: 'todo' }, after: { status: 'in_progress' } }],
      omitted: [],
    });
    expect(await computeDigest(app)).toEqual(before);
    const [plan] = await plans({ action_id: content.action_id });
    expect(plan).toMatchObject({ source: 'mcp', status: 'staged', owner_id: team.member.user_id, team_id: null });
    expect((plan.expires_at - plan.staged_at) / 3_600_000).toBeCloseTo(7 * 24);
    expect(plan.token_id).not.toBeNull();
    await agent.close();
  });
});

it('leaves an audit entry of the token, a notification to the owner, and a note below the facts', async () => {
  const { task_id } = await task('A');
  const agent = await connectAgent();
  const { content } = await agent.call('propose_plan', { actions: [setStatus(task_id)], note: 'Because' });
  const { action_id } = content;
  const [entry] = await db()('audit_entries').where({ entity_id: action_id });
  expect(entry).toMatchObject({ feature: 'ai_agent', action: 'stage', actor_type: 'pat', user_id: team.member.user_id });
  expect(entry.token_id).not.toBeNull();
  expect(JSON.stringify(entry)).not.toContain('Because');
  const [notice] = await db()('notifications')
    .where({ user_id: team.member.user_id })
    .orderBy('notification_id', 'desc')
    .limit(1);
  expect(notice).toMatchObject({ kind: 'plan_staged', message: expect.stringContaining('an outside agent') });
  expect(await db()('agent_messages').where({ action_id })).toMatchObject([{ role: 'assistant', content: 'Because' }]);
  await agent.close();
});

it('one token has one session, also when ten proposals come at once', async () => {
  const tasks = await Promise.all(Array.from({ length: 10 }, (_, n) => task(`S${n}`)));
  const token = await buildToken(app, team.member, SCOPES, { name: 'laptop' });
  const agents = await Promise.all(tasks.map(() => connect(app, token)));
  const answers = await Promise.all(
    agents.map((agent, n) => agent.call('propose_plan', { actions: [setStatus(tasks[n]?.task_id ?? '')] })),
  );
  expect(answers.map(({ isError }) => isError)).toEqual(tasks.map(() => false));
  const sessions = await plans({})
    .whereIn(
      'action_id',
      answers.map(({ content }) => content.action_id),
    )
    .distinct('session_id');
  expect(sessions).toHaveLength(1);
  expect(await db()('agent_sessions').where(sessions[0])).toMatchObject([{ kind: 'mcp', title: 'laptop' }]);
  await Promise.all(agents.map((agent) => agent.close()));
});

it('a key makes a proposal repeatable: the same plan, once, however often and at once; another proposal is a 409', async () => {
  const { task_id } = await task('Keyed');
  const token = await buildToken(app, team.member, SCOPES);
  const agents = await Promise.all(Array.from({ length: 8 }, () => connect(app, token)));
  const proposal = { actions: [setStatus(task_id)], key: 'nightly-1' };
  const answers = await Promise.all(agents.map((agent) => agent.call('propose_plan', proposal)));
  const ids = new Set(answers.map(({ content }) => content.action_id));
  expect([ids.size, await plans({ proposal_key: 'nightly-1' })]).toEqual([1, [expect.anything()]]);
  const agent = agents[0] as Agent;
  const other = await agent.call('propose_plan', { ...proposal, actions: [setStatus(task_id, 'done')] });
  expect(other).toMatchObject({ isError: true, content: { status: 409, error_code: 'RESOURCE_CONFLICT' } });
  // Of another token it is another name.
  const second = await connectAgent();
  expect((await second.call('propose_plan', proposal)).content.action_id).not.toBe([...ids][0]);
  await db()('agent_plans')
    .where({ action_id: [...ids][0] })
    .update({ status: 'expired' });
  expect((await agent.call('propose_plan', proposal)).content).toMatchObject({ action_id: [...ids][0], status: 'expired' });
  await Promise.all([...agents, second].map((each) => each.close()));
});

it('an action that is refused refuses all, and names itself', async () => {
  const { task_id } = await task('Fine');
  const foreign = await buildTeam(app);
  const hidden = await buildTask(app, foreign, await buildProject(app, foreign));
  const agent = await connectAgent();
  const cases = [
    [setStatus(hidden.task_id), 403],
    [setStatus('nothing'), 404],
    [setStatus(task_id, 'finished'), 422],
    [{ tool: 'task.update', entity_id: task_id, params: { version: 9 } }, 422],
    [{ tool: 'task.update', entity_id: task_id, params: { title: 'a\u202Eb' } }, 400],
    [{ tool: 'task.assign', entity_id: task_id, params: { assigned_to: foreign.member.user_id } }, 400],
    [{ tool: 'task.set_status', entity_id: '$9', params: { status: 'done' } }, 400],
  ] as const;
  for (const [action, status] of cases) {
    const { isError, content } = await agent.call('propose_plan', { actions: [setStatus(task_id), action] });
    expect([action.tool, isError, content.status]).toEqual([action.tool, true, status]);
    if (status !== 422 || action.tool !== 'task.update') expect(JSON.stringify(content)).not.toContain(hidden.title);
  }
  expect(await db()('agent_actions').where({ entity_id: task_id })).toEqual([]);
  await agent.close();
});

it('stages no plan without a change', async () => {
  const { task_id } = await task('As it is');
  const agent = await connectAgent();
  const { content } = await agent.call('propose_plan', { actions: [setStatus(task_id, 'todo')] });
  expect(content).toMatchObject({ action_id: null, status: 'empty', omitted: [{ index: 0, reason: expect.any(String) }] });
  await agent.close();
});

it('a guest proposes nothing, and nobody without the scope', async () => {
  const { task_id } = await task('Guarded');
  const guest = await connectAgent(team.guest);
  expect((await guest.call('propose_plan', { actions: [setStatus(task_id)] })).content).toMatchObject({ status: 403 });
  const reader = await connect(app, await buildToken(app, team.member, ['tasks:read', 'ai:confirm']));
  expect((await reader.call('propose_plan', { actions: [setStatus(task_id)] })).content.message).toBe(
    'Token is missing the required scope: ai:chat',
  );
  await Promise.all([guest.close(), reader.close()]);
});

it.each([
  ['confirmed: true', { confirmed: true }],
  ['a session', { session_id: 'x' }],
  ['a hash', { plan_hash: 'sha256:0' }],
  ['no actions', { actions: [] }],
  ['51 actions', { actions: Array.from({ length: 51 }, () => setStatus('x')) }],
  ['a tool of an undo', { actions: [{ tool: 'comment.delete', entity_id: 'x', params: {} }] }],
  ['a tool of nothing', { actions: [{ tool: 'team.add_member', params: { role: 'admin' } }] }],
  ['more of an action', { actions: [{ ...setStatus('x'), risk: 'low' }] }],
  ['a long note', { note: 'x'.repeat(501) }],
  ['a hidden character in the note', { note: 'a\u200Bb' }],
  ['a long key', { key: 'x'.repeat(256) }],
])('%s is a 422', async (_what, more) => {
  const agent = await connectAgent();
  const { isError, content } = await agent.call('propose_plan', { actions: [setStatus('x')], ...more });
  expect([isError, content.status]).toEqual([true, 422]);
  await agent.close();
});
