import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { RunningWorker } from '../../../activities/worker/start-worker.js';
import { metrics } from '../../../api/platform/telemetry/metrics.js';
import { planWorkflowId } from '../../../workflows/contracts/plan-contract.js';
import { turnWorkflowId } from '../../../workflows/contracts/turn-contract.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { queuePrefix, runWorker, until } from '../../support/worker.js';

let app: TestApp;
let worker: RunningWorker;
let team: TestTeam;
let project: { project_id: string };

beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix() });
  worker = await runWorker(app);
});
afterAll(async () => {
  await worker.stop();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
});

/** A session of a person with linked items; `say` sends a message to it. */
async function talk(person: Person, ...links: { item_type: string; item_id: string }[]) {
  const client = app.as(person);
  const { session_id } = (await client.post('/api/ai-workspace/sessions', {})).body;
  for (const link of links) expect((await client.post(`/api/ai-workspace/sessions/${session_id}/link`, link)).status).toBe(200);
  return {
    session_id: session_id as string,
    say: (message: string) => client.post('/api/ai-workspace/chat', { session_id, message }),
    read: async () => (await client.get(`/api/ai-workspace/sessions/${session_id}`)).body,
  };
}

const task = async (title: string, fields: Record<string, unknown> = {}) => {
  const { task_id } = await buildTask(app, team, project, { title, ...fields });
  return { item_type: 'task', item_id: task_id };
};

it('stages a plan that changes nothing before it is confirmed', async () => {
  const login = await task('Login 500');
  const { say, read } = await talk(team.member, login);
  const { status, body, headers } = await say('close Login 500 and comment on it: fixed; in v2');
  expect(status).toBe(200);
  const entries = await app.services
    .db('audit_entries')
    .where({ correlation_id: headers.get('x-correlation-id') })
    .orderBy('timestamp');
  expect(entries.map(({ action, actor_type, user_id }) => [action, actor_type, user_id])).toEqual([
    ['start', 'user', team.member.user_id],
    ['stage', 'agent', team.member.user_id],
  ]);
  expect(body).toMatchObject({
    requires_confirmation: true,
    action_plan: {
      actions: [
        { tool: 'task.set_status', entity_id: login.item_id, before: { status: 'todo' }, after: { status: 'done' } },
        { tool: 'task.comment', params: { content: 'fixed; in v2' } },
      ],
    },
  });
  expect(body.response).toMatch(/Nothing changes until you confirm/);
  expect((await app.as(team.member).get(`/api/tasks/${login.item_id}`)).body.status).toBe('todo');
  expect(await read()).toMatchObject({
    message_count: 2,
    pending_action_id: body.action_plan.action_id,
    messages: [
      { role: 'user', content: 'close Login 500 and comment on it: fixed; in v2', action_id: null },
      { role: 'assistant', content: body.response, action_id: body.action_plan.action_id },
    ],
  });
});

it('answers without a plan by a summary, a question or a hint', async () => {
  const { say } = await talk(team.member, await task('Login 500', { priority: 'high', due_date: '2026-12-01' }));
  const summary = (await say('summarise')).body;
  expect(summary).toEqual({
    response: expect.stringMatching(/task “Login 500” \(\S+\): to do, high priority, due 2026-12-01, not assigned/),
    requires_confirmation: false,
  });
  expect((await say('close Nope')).body.response).toContain('No linked item, and no task of the team, is called “Nope”');
  expect((await say('close it and sing a song')).body.response).toContain('I do not understand “sing a song”');
  expect((await (await talk(team.member)).say('close it')).body).toEqual({
    response: expect.stringContaining('No item is linked'),
    requires_confirmation: false,
  });
});

it('finds an answer although its notification and the listening connection are lost', async () => {
  const { say } = await talk(team.member, await task('Login 500'));
  expect((await say('summarise')).status).toBe(200);
  const cut =
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'assent-answer-listener' and datname = current_database()";
  const asked = Promise.all([say('close it'), say('start it'), say('reopen it')]);
  await app.services.db.raw(cut);
  for (const { status } of await asked) expect(status).toBe(200);
  expect((await say('summarise')).status).toBe(200);
});

it('posts a message once for one key; a rejected message may be posted again', async () => {
  const { session_id } = await talk(team.member, await task('Login 500'));
  const body = { session_id, message: 'close it' };
  const headers = { 'idempotency-key': `key-${session_id}` };
  const client = app.as(team.member);
  const first = await client.post('/api/ai-workspace/chat', body, { headers });
  const again = await client.post('/api/ai-workspace/chat', body, { headers });
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(again.body).toEqual(first.body);
  expect((await client.get(`/api/ai-workspace/sessions/${session_id}`)).body.message_count).toBe(2);
});

it('a message of many changes is one plan, and one too many is a question', async () => {
  const tasks = [];
  for (let i = 0; i < 12; i += 1) tasks.push(await task(`Task ${i}`));
  const { say } = await talk(team.member, ...tasks);
  const forty = ['in progress', 'in review', 'done', 'todo'].map((status) => `set all linked tasks to ${status}`);
  const { body } = await say('mark all tasks as done and comment on Task 3: all done');
  expect(body.action_plan.actions).toHaveLength(13);
  expect((await say([...forty, 'delete all tasks'].join('; '))).body.response).toContain('at most 50 changes');
});

it('writes messages and linked items to no history and no metric', async () => {
  const canary = `canary${Date.now()}`;
  const { say, read } = await talk(team.member, await task(`Login ${canary}`));
  expect((await say(`comment on it: ${canary}`)).body.requires_confirmation).toBe(true);
  const { messages, pending_action_id } = await read();
  const connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  try {
    const { workflow } = new Client({ connection });
    for (const id of [turnWorkflowId(messages[0].message_id), planWorkflowId(pending_action_id)]) {
      const handle = workflow.getHandle(id);
      const started = await until(() => handle.describe().catch(() => undefined));
      const shown = JSON.stringify([historyToJSON(await handle.fetchHistory()), started.memo, started.searchAttributes]);
      expect([id, shown.includes(canary)]).toEqual([id, false]);
      expect(Buffer.from(shown, 'latin1').includes(Buffer.from(canary).toString('base64').slice(4, 16))).toBe(false);
    }
  } finally {
    await connection.close();
  }
  expect(await metrics.metrics()).not.toContain(canary);
});
