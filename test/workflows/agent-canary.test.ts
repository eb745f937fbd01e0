/** Two workers, and words of people in all that reaches the agent: none is in a history, a log line or a metric. Each job is done once. */
import { Writable } from 'node:stream';
import { Client, Connection } from '@temporalio/client';
import type { RunningWorker } from '../../activities/worker/start-worker.js';
import type { Scope } from '../../api/platform/access/scopes.js';
import { createLogger } from '../../api/platform/telemetry/log.js';
import { metrics } from '../../api/platform/telemetry/metrics.js';
import { taskQueue } from '../../workflows/contracts/queues.js';
import { triageScheduleId } from '../../workflows/contracts/triage-contract.js';
import { connect } from '../api/agent/mcp/agents.js';
import { send } from '../api/integrations/forge/deliver.js';
import { buildProject, buildTask, buildTeam, buildToken, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { readKept } from '../support/histories.js';
import { queuePrefix, runWorker, until } from '../support/worker.js';

const WORD = 'canary-5e1f';
const SCOPES: Scope[] = ['graph:read', 'tasks:read', 'projects:read', 'ai:chat'];
const MESSAGES = 10;

const lines: string[] = [];
const sink = new Writable({
  write(chunk, _encoding, done) {
    lines.push(String(chunk));
    done();
  },
});

let app: TestApp;
let workers: RunningWorker[];
let connection: Connection;
let temporal: Client;
let team: TestTeam;
let project: { project_id: string };

beforeAll(async () => {
  const forge = { FORGE_WEBHOOK_SECRET: 'shared', FORGE_BINDING: 'open', CI_TRIAGE_SECONDS: '0' };
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix(), LOG_LEVEL: 'trace', ...forge });
  Object.assign(app.services, { log: createLogger(app.services.config, 'worker', sink) });
  workers = [await runWorker(app), await runWorker(app)];
  connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  temporal = new Client({ connection });
  team = await buildTeam(app);
  project = await buildProject(app, team, { name: `${WORD} project` });
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await connection.close();
  await app.close();
});

const db = () => app.services.db;
const task = (fields: object = {}) =>
  buildTask(app, team, project, { title: `${WORD} title`, description: `${WORD} text`, ...fields });
const findPlans = (source: string) => db()('agent_plans').where({ source });

/** Ten sessions of two people with a message each, all at once. */
async function chat(): Promise<void> {
  const asked = Array.from({ length: MESSAGES }, async (_, nth) => {
    const client = app.as(nth % 2 === 0 ? team.member : team.manager);
    const { session_id } = (await client.post('/api/ai-workspace/sessions', { title: `${WORD} session` })).body;
    const { task_id } = await task();
    await client.post(`/api/ai-workspace/sessions/${session_id}/link`, { item_type: 'task', item_id: task_id });
    return client.post('/api/ai-workspace/chat', { session_id, message: `comment on it: ${WORD} message` });
  });
  for (const answer of await Promise.all(asked))
    expect(answer).toMatchObject({ status: 200, body: { requires_confirmation: true } });
}

/** A new task starts an automation, which asks the agent. The name of an automation is for operators, who see it in Temporal. */
async function automate(): Promise<void> {
  const action = { type: 'run_agent', params: { instruction: `comment on it: ${WORD} {{event.task.title}}` } };
  const fields = { name: 'Ask the agent', team_id: team.team_id, trigger_type: 'task.created', actions: [action] };
  const made = await app.as(team.manager).post('/api/automations', { ...fields, is_active: true });
  expect(made.status).toBe(201);
  await task();
  await until(async () => (await findPlans('automation')).length > 0);
  await app.as(team.manager).delete(`/api/automations/${made.body.automation_id}`);
}

async function proposeFromOutside(): Promise<void> {
  const { task_id } = await task();
  const agent = await connect(app, await buildToken(app, team.member, SCOPES, { mcp_only: true, name: `${WORD} token` }));
  const actions = [{ tool: 'task.comment', entity_id: task_id, params: { content: `${WORD} comment` } }];
  const { content } = await agent.call('propose_plan', { actions, note: `${WORD} note`, key: `${WORD}-key` });
  await agent.call('propose_plan', { actions: [{ tool: `${WORD}.tool`, params: { [WORD]: WORD } }], note: WORD });
  await agent.call('search', { query: WORD });
  const plan = { session_id: (await findPlans('mcp').first()).session_id, action_id: content.action_id };
  expect((await app.as(team.member).post('/api/ai-workspace/agent/confirm', plan)).status).toBe(200);
  await agent.close();
}

/** A night with an overdue task, and a failed run whose names are a person's words. */
async function triage(): Promise<void> {
  const settings = { overnight_triage: { enabled: true }, ci_triage: { enabled: true } };
  await app.as(team.admin).put(`/api/ai-workspace/settings?team_id=${team.team_id}`, settings);
  const { team_id } = team;
  const repo = `acme/${WORD}`;
  await app.as(team.admin).post('/api/forge/repositories', { repo, team_id, project_id: project.project_id, sync_issues: false });
  const names = { 'workflow_run.name': `${WORD} CI`, 'workflow_run.head_branch': `${WORD}-branch` };
  await send(app, 'workflow_run.failed', { 'repository.full_name': repo, 'workflow_run.id': 8, ...names });
  const schedule = temporal.schedule.getHandle(triageScheduleId(app.services.config.TASK_QUEUE_PREFIX, team_id));
  await task({ due_date: '2020-01-01' });
  await until(() =>
    schedule.describe().then(
      () => true,
      () => false,
    ),
  );
  await schedule.trigger();
  await until(async () => (await findPlans('overnight_triage')).length > 0 && (await findPlans('ci_failure_triage')).length > 0);
}

/** Every history of this product's workflows with what the Temporal UI shows beside it. */
async function histories(): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const query = `TaskQueue = "${taskQueue(app.services.config.TASK_QUEUE_PREFIX, 'core')}"`;
  for await (const { workflowId, runId } of temporal.workflow.list({ query })) {
    texts.set(workflowId, await readKept(temporal.workflow.getHandle(workflowId, runId)));
  }
  return texts;
}

it('leaves no word of anybody in a history, a log line or a metric, and does everything once', async () => {
  await chat();
  await automate();
  await proposeFromOutside();
  await triage();
  expect(await findPlans('chat')).toHaveLength(MESSAGES);
  expect(await db()('agent_messages').where({ role: 'assistant' }).whereNotNull('answers')).toHaveLength(MESSAGES);
  for (const source of ['automation', 'mcp', 'overnight_triage', 'ci_failure_triage'])
    expect([source, (await findPlans(source)).length]).toEqual([source, 1]);

  // What Temporal lists may be a moment behind.
  const wanted = { turn: MESSAGES, plan: MESSAGES + 4, run: 1, triage: 1, ci: 1 };
  let found = new Map<string, string>();
  const counts = () =>
    Object.fromEntries(
      Object.keys(wanted).map((kind) => [kind, [...found.keys()].filter((id) => new RegExp(`(^|-)${kind}:`).test(id)).length]),
    );
  const all = async () => {
    found = await histories();
    return JSON.stringify(counts()) === JSON.stringify(wanted);
  };
  await until(all).catch(() => undefined);
  expect(counts()).toEqual(wanted);
  for (const [id, text] of found) expect([id, text.includes(WORD)]).toEqual([id, false]);
  const log = lines.join('');
  expect(log).toContain('turn ended');
  expect(lines.filter((line) => line.includes(WORD))).toEqual([]);
  expect(await metrics.metrics()).not.toContain(WORD);
  // The sweep itself sees: the word is where it belongs.
  expect(await db()('agent_messages').where('content', 'like', `%${WORD}%`)).not.toEqual([]);
});
