import { finishTurn } from '../../../../api/agent/providers/steps/finish-turn.js';
import { modelStep } from '../../../../api/agent/providers/steps/model-step.js';
import { proposerContext, readOnly, readTurn, type TurnState } from '../../../../api/agent/providers/steps/read-turn.js';
import { getAction, type Tool } from '../../../../api/gate/work-actions/catalogue.js';
import { closeModelConnections } from '../../../../api/agent/providers/model-fetch.js';
import { maintenanceActivities } from '../../../../activities/maintenance.js';
import { buildProject, buildTask, buildTeam, leave, type TestTeam } from '../../../factories/people.js';
import type { TestApp } from '../../../support/app.js';
import { getEventData, type ModelServer, startModelServer } from '../../../support/model-server.js';
import {
  allowModel,
  begin,
  buildSession,
  converse,
  neverStopped,
  postMessage,
  startWithModel,
  type TestSession,
} from './converse.js';

// Turns of a model: prompts, reads, proposals, budgets and failures.

let model: ModelServer;
let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let task: { task_id: string };
let session: TestSession;

beforeAll(async () => {
  model = await startModelServer();
  app = await startWithModel(model, 'openai_compatible', {
    AI_PRICE_INPUT: '3',
    AI_PRICE_OUTPUT: '15',
    AI_MONTHLY_TOKENS_PER_TEAM: '100000',
    AI_TURNS_PER_TEAM: '20',
  });
});
afterAll(async () => {
  await closeModelConnections();
  model.close();
  await app.close();
});
beforeEach(async () => {
  model.requests.length = 0;
  team = await buildTeam(app);
  await allowModel(app, team);
  project = await buildProject(app, team);
  task = await buildTask(app, team, project, { title: 'Login 500', description: 'It fails' });
  session = await buildSession(app, team.member, [
    ['task', task.task_id],
    ['project', project.project_id],
  ]);
});

const db = () => app.services.db;
const say = (message: string) => converse(app, session, message, team);
const usage = () => db()('agent_usage').where({ team_id: team.team_id }).first();
type Item = Record<string, unknown>;
const itemsSeen = (at = 0) => (getEventData(model.requests[at] as never)['items'] ?? []) as Item[];

it('answers in words', async () => {
  model.script({ text: 'It fails with 500.', usage: { input: 700, output: 9 } });
  const { view, content, plan, messageId } = await say('What is wrong?');
  expect([view, content, plan]).toEqual([{ state: 'answered' }, 'It fails with 500.', undefined]);
  const turn = await db()('agent_turns').where({ message_id: messageId }).first();
  expect(turn).toMatchObject({ state: 'answered', calls: 1, model: 'stand-in', prompt_version: '1' });
  expect(turn).toMatchObject({ input_tokens: 700, output_tokens: 9, cost_micro: 700 * 3 + 9 * 15 });
  expect(await usage()).toMatchObject({ input_tokens: 700, output_tokens: 9, cost_micro: 2_235 });
});

it('shows items by handles, without ids or addresses', async () => {
  await app.as(team.member).post(`/api/tasks/${task.task_id}/comments`, { content: 'Seen on Monday' });
  await app.as(team.member).patch(`/api/tasks/${task.task_id}`, { assigned_to: team.manager.user_id });
  await say('Hello');
  const [request] = model.requests;
  expect(itemsSeen()).toEqual([
    expect.objectContaining({
      handle: 'T1',
      type: 'task',
      title: 'Login 500',
      status: 'todo',
      description: 'It fails',
      assignee: expect.stringMatching(/^U\d$/),
      project: { handle: 'P1', name: 'Apollo' },
      comments: [expect.objectContaining({ text: 'Seen on Monday', by: expect.stringMatching(/^U\d$/) })],
    }),
    expect.objectContaining({ handle: 'P1', title: 'Apollo', tasks_by_status: { todo: 1 } }),
  ]);
  const members = getEventData(request as never)['members'] as Item[];
  expect(members).toHaveLength(4);
  for (const id of [task.task_id, project.project_id, team.team_id, team.member.user_id, team.member.email])
    expect(request?.raw).not.toContain(id);
});

it('reads, proposes, and stages one plan', async () => {
  model.script(
    { calls: [{ name: 'read_item', input: { item: 'T1' } }] },
    {
      text: 'I propose two changes.',
      calls: [
        { name: 'task_set_status', input: { task_id: 'T1', status: 'done' } },
        { name: 'task_create', input: { title: 'Add a test', project_id: 'P1' } },
        { name: 'relation_create', input: { source_id: '$1', target_id: 'T1', relation_type: 'related_to' } },
      ],
    },
  );
  const { view, content, plan } = await say('Close it, and add a test');
  expect(view).toEqual({ state: 'answered', changes: 3 });
  expect(content).toBe('I propose two changes.');
  expect(plan?.actions.map(({ tool, entity_id, params }) => [tool, entity_id, params])).toEqual([
    ['task.set_status', task.task_id, { status: 'done' }],
    ['task.create', null, expect.objectContaining({ title: 'Add a test', project_id: project.project_id })],
    ['relation.create', null, { source_id: '$1', target_id: task.task_id, relation_type: 'related_to' }],
  ]);
  const [result] = model.requests[1]?.messages.flatMap(({ results }) => results) ?? [];
  expect(result?.output).toMatch(/^<data n=[\w-]+>\n.*"title":"Login 500".*\n<\/data>$/s);
  const audited = await db()('audit_entries').where({ action: 'stage', entity_id: plan?.action_id }).first();
  expect(audited).toMatchObject({ user_id: team.member.user_id, actor_type: 'agent' });
  expect(await db()('tasks').where({ task_id: task.task_id }).first()).toMatchObject({ status: 'todo', version: 1 });
});

it('finds, lists members, and reads comments, among linked items only', async () => {
  const other = await buildTask(app, team, project, { title: 'Login secret plan' });
  await app.as(team.member).post(`/api/tasks/${task.task_id}/comments`, { content: 'x'.repeat(2_000) });
  model.script(
    {
      calls: [
        { name: 'find', input: { text: 'LOGIN' } },
        { name: 'read_comments', input: { item: 'T1' } },
        { name: 'members', input: {} },
        { name: 'members', input: {} },
      ],
    },
    { text: 'Found' },
  );
  await say('Find login');
  const results = model.requests[1]?.messages.flatMap(({ results }) => results.map(({ output }) => output)) ?? [];
  expect(results).toHaveLength(4);
  expect(results[0]).toContain('"handle":"T1"');
  expect(results.join()).not.toContain('secret plan');
  expect(results.join()).not.toContain(other.task_id);
  expect(results[1]).toContain('"cut":true');
  expect(results[2]).toContain('"handle":"U1"');
  expect(results[3]).toContain('"refused":"one answer may read 3 times"');
});

it('gives the model one chance to correct what was refused', async () => {
  const wrong = { calls: [{ name: 'task_set_status', input: { task_id: 'T1', status: 'finished' } }] };
  model.script(wrong, { calls: [{ name: 'task_set_status', input: { task_id: 'T1', status: 'done' } }] });
  const { plan } = await say('Close it');
  expect(plan?.actions).toHaveLength(1);
  expect(model.requests[1]?.messages.at(-1)?.text).toMatch(/^The plan was refused. .*<data n=.*"reason":".*status.*<\/data>$/s);

  model.requests.length = 0;
  model.script(wrong);
  const second = await say('Close it');
  expect(model.requests).toHaveLength(2);
  expect(second.plan).toBeUndefined();
  expect(second.content).toMatch(/^I could not propose this: .*status/);
});

it('answers with a hint if nothing is linked, without a call', async () => {
  const empty = await buildSession(app, team.member, []);
  const { content } = await converse(app, empty, 'Hello', team);
  expect(content).toMatch(/^Link a task/);
  expect(model.requests).toHaveLength(0);
});

it('leaves the answer to the rules if one linked team has not allowed a model', async () => {
  const closed = await buildTeam(app);
  await db()('memberships').insert({ team_id: closed.team_id, user_id: team.member.user_id, role: 'member' });
  const hidden = await buildTask(app, closed, await buildProject(app, closed));
  const both = await buildSession(app, team.member, [
    ['task', task.task_id],
    ['task', hidden.task_id],
  ]);
  expect((await converse(app, both, 'Hello', team)).view).toEqual({ state: 'answered', code: 'by_rules' });
  await allowModel(app, closed);
  const turn = await postMessage(app, both, 'Hello', team.team_id);
  // By the rules it was not answered here; that turn ends first.
  await db()('agent_turns').where({ session_id: both.session_id }).whereNot({ message_id: turn.messageId }).delete();
  expect(await begin(app, turn)).toEqual({ state: 'running' });
  await allowModel(app, closed, false);
  await expect(modelStep(app.services, turn, 0, neverStopped())).rejects.toMatchObject({ code: 'model_not_allowed' });
  expect(model.requests).toHaveLength(0);
  expect(await finishTurn(app.services, turn, 'model_not_allowed')).toEqual({ state: 'failed', code: 'model_not_allowed' });
});

it('loses a link with the membership, between two steps too', async () => {
  const other = await buildTeam(app);
  await allowModel(app, other);
  await db()('memberships').insert({ team_id: other.team_id, user_id: team.member.user_id, role: 'member' });
  const lent = await buildTask(app, other, await buildProject(app, other), { title: 'Lent words' });
  const both = await buildSession(app, team.member, [
    ['task', lent.task_id],
    ['task', task.task_id],
  ]);
  model.answer(async ({ messages }) => {
    if (messages.some(({ results }) => results.length > 0)) return { text: 'Done' };
    await leave(app, other, team.member);
    return { calls: [{ name: 'read_item', input: { item: 'T1' } }] };
  });
  await converse(app, both, 'Read it', team);
  const [first, second] = model.requests;
  expect(first?.raw).toContain('Lent words');
  const [result] = second?.messages.flatMap(({ results }) => results) ?? [];
  expect(result?.output).toContain('"refused":"the item is no longer linked');
  expect(getEventData(second as never)).toMatchObject({
    links_no_longer_readable: 1,
    items: [{ handle: 'T2', title: 'Login 500' }],
  });
  expect(second?.raw).not.toContain('Lent words');
});

it('ends at its limit of steps, and of tokens', async () => {
  model.script({ calls: [{ name: 'members', input: {} }], usage: { input: 10, output: 10 } });
  const endless = await say('Go on');
  expect(endless.view).toEqual({ state: 'failed', code: 'loop_limit' });
  expect(model.requests).toHaveLength(8);
  model.requests.length = 0;
  model.script({ calls: [{ name: 'members', input: {} }], usage: { input: 1e9, output: 1e9 } });
  const { view, messageId } = await say('Go on');
  expect(view.code).toBe('loop_limit');
  expect(model.requests.length).toBeLessThan(8);
  const turn = await db()('agent_turns').where({ message_id: messageId }).first();
  // A call reserves a third of its bytes, and counts at most all of them, whatever the provider says.
  const longest = Math.max(...model.requests.map(({ raw }) => raw.length));
  expect(turn.input_tokens + turn.output_tokens).toBeLessThanOrEqual(60_000 + longest);
});

it('stops at the budget of the team’s month, and charges only for answers', async () => {
  const spent = { team_id: team.team_id, month: db().raw("date_trunc('month', now() at time zone 'utc')::date") };
  await db()('agent_usage').insert({ ...spent, input_tokens: 97_500 });
  const { view, content } = await say('Hello');
  expect(view).toEqual({ state: 'failed', code: 'budget_exceeded' });
  expect(content).toMatch(/budget for the model is used up/);
  expect(model.requests).toHaveLength(0);
  await db()('agent_usage').where({ team_id: team.team_id }).update({ input_tokens: 90_000 });
  model.answer((_seen, response) => void response.writeHead(401).end('{}'));
  expect((await say('Hello')).view.code).toBe('model_refused');
  expect(await usage()).toMatchObject({ input_tokens: 90_000, output_tokens: 0 });
});

it('never spends more than the month has, in 20 turns at once', async () => {
  const month = db().raw("date_trunc('month', now() at time zone 'utc')::date");
  await db()('agent_usage').insert({ team_id: team.team_id, month, input_tokens: 60_000 });
  model.script({ text: 'ok'.repeat(3_000), usage: null });
  const sessions = await Promise.all(Array.from({ length: 20 }, () => buildSession(app, team.member, [['task', task.task_id]])));
  const ends = await Promise.all(sessions.map((each) => converse(app, each, 'Hello', team)));
  const { input_tokens, output_tokens } = await usage();
  expect(input_tokens + output_tokens).toBeLessThanOrEqual(100_000);
  const codes = new Set(ends.map(({ view }) => view.code ?? view.state));
  expect([...codes].toSorted()).toEqual(['answered', 'budget_exceeded']);
});

it('asks once more with half of the context if the prompt is too long', async () => {
  model.answer(({ raw }, response) => {
    if (model.requests.length > 1) return { text: 'Short enough' };
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: raw } }));
    return undefined;
  });
  expect((await say('Hello')).content).toBe('Short enough');
  expect(model.requests).toHaveLength(2);
});

it('keeps a stored step: a retry asks nothing and reserves nothing', async () => {
  model.script({ text: 'Once' });
  const turn = await postMessage(app, session, 'Hello', team.team_id);
  await begin(app, turn);
  const [first, again] = [
    await modelStep(app.services, turn, 0, neverStopped()),
    await modelStep(app.services, turn, 0, neverStopped()),
  ];
  expect(again).toEqual(first);
  expect(model.requests).toHaveLength(1);
  expect(await db()('agent_turns').where({ message_id: turn.messageId }).first()).toMatchObject({ calls: 1 });
  expect(await finishTurn(app.services, turn, 'done')).toEqual({ state: 'answered' });
  expect(await finishTurn(app.services, turn, 'done')).toEqual({ state: 'superseded' });
  expect(await modelStep(app.services, turn, 1, neverStopped())).toMatchObject({ said: 'superseded' });
});

it('deletes what a model said after a week, and the answer stays', async () => {
  model.script({ text: 'Old words' });
  const { messageId } = await say('Hello');
  const run = () => maintenanceActivities(app.services).runMaintenanceJob('agent-steps');
  const ago = (days: number) =>
    db()('agent_steps')
      .where({ message_id: messageId })
      .update({ created_at: new Date(Date.now() - days * 86_400_000) });
  await ago(6);
  await run();
  expect(await db()('agent_steps').where({ message_id: messageId })).toHaveLength(1);
  await ago(8);
  expect(await run()).toBe('deleted 1 steps of models');
  expect(await db()('agent_messages').where({ answers: messageId })).toHaveLength(1);
});

const WRITES: [Tool, () => [id: string, params: object]][] = [
  ['task.create', () => ['', { title: 'x', project_id: project.project_id }]],
  ['task.update', () => [task.task_id, { title: 'x' }]],
  ['task.set_status', () => [task.task_id, { status: 'done' }]],
  ['task.assign', () => [task.task_id, { assigned_to: team.member.user_id }]],
  ['task.comment', () => [task.task_id, { content: 'x' }]],
  ['task.delete', () => [task.task_id, {}]],
  ['project.update', () => [project.project_id, { name: 'x' }]],
  ['relation.create', () => ['', { source_id: task.task_id, target_id: project.project_id, relation_type: 'related_to' }]],
  ['note.create', () => ['', { title: 'x', project_id: project.project_id }]],
];

it.each(WRITES)('PostgreSQL refuses %s where the agent reads', async (tool, given) => {
  const turn = await postMessage(app, session, 'Hello', team.team_id);
  await begin(app, turn);
  const state = (await readTurn(app.services, turn))?.turn as TurnState;
  const [id, params] = given();
  const write = readOnly(app.services, (db) =>
    getAction(tool).perform(proposerContext(app.services, db, state), id, params as never),
  );
  await expect(write).rejects.toThrow(/in a read-only transaction/);
});

it('does nothing for an execution that lost its turn', async () => {
  const turn = await postMessage(app, session, 'Hello', team.team_id);
  await begin(app, turn);
  const other = { ...turn, execution: 'another' };
  expect(await begin(app, other)).toEqual({ state: 'superseded' });
  expect(await modelStep(app.services, other, 0, neverStopped())).toMatchObject({ said: 'superseded' });
  expect(await finishTurn(app.services, other, 'done')).toEqual({ state: 'superseded' });
});
