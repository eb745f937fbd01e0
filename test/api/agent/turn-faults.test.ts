/** What dies while a turn is under way: the API, the worker, its workflow. Real processes, real Temporal. */
import { Client, Connection } from '@temporalio/client';
import type { ChildProcess } from 'node:child_process';
import { turnWorkflowId } from '../../../workflows/contracts/turn-contract.js';
import { submitMessage } from '../../../api/agent/turns/submit-message.js';
import { buildSession, buildContext } from '../../factories/agent.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { killApiProcesses, startApiProcess } from '../../resilience/api-process.js';
import { startApp, type TestApp } from '../../support/app.js';
import { lockWaiters } from '../../support/database.js';
import { queuePrefix, runWorker, until } from '../../support/worker.js';
import { startWorkerProcess } from '../../support/worker-process.js';

let app: TestApp;
let team: TestTeam;
let session_id: string;
const workers: ChildProcess[] = [];

beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix() });
});
afterAll(async () => {
  killApiProcesses();
  for (const worker of workers) worker.kill('SIGKILL');
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  const project = await buildProject(app, team);
  const { task_id } = await buildTask(app, team, project, { title: 'Login 500' });
  ({ session_id } = await buildSession(app, team.member));
  await app.as(team.member).post(`/api/ai-workspace/sessions/${session_id}/link`, { item_type: 'task', item_id: task_id });
});

const db = () => app.services.db;
const startWorker = async (): Promise<ChildProcess> => {
  const worker = await startWorkerProcess(app);
  workers.push(worker);
  return worker;
};
const ask = (url: string, message: string) =>
  fetch(`${url}/api/ai-workspace/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${team.member.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ session_id, message }),
  }).catch(() => undefined);
const read = async () => (await app.as(team.member).get(`/api/ai-workspace/sessions/${session_id}`)).body;
const turn = () => db()('agent_turns').where({ session_id }).first();
const answered = () => until(async () => (await turn())?.state === 'answered');

it('a message whose API process dies after the commit is answered in its session', async () => {
  const api = await startApiProcess(app);
  // Fresh enough for the API to take the message, although no worker is there yet.
  await db()('heartbeats').insert({ process: 'worker:past', seen_at: new Date(), details: JSON.stringify({ temporal: true }) });
  const asked = ask(api.url, 'close it');
  await until(turn);
  api.child.kill('SIGKILL');
  await asked;
  await startWorker();
  await answered();
  expect(await read()).toMatchObject({ message_count: 2, pending_action_id: expect.any(String) });
});

it('a worker killed while it answers leaves nothing behind, and the next one answers once', async () => {
  const worker = workers.at(-1) ?? (await startWorker());
  const holder = await db().transaction();
  await holder.raw('lock table agent_plans in share row exclusive mode');
  // Nobody waits for the answer, so that nobody withdraws the message before another worker takes it over.
  await submitMessage(buildContext(app, team.member), { session_id, message: 'close it' });
  app.services.notifyRelay();
  await until(async () => (await lockWaiters(db())) > 0);
  worker.kill('SIGKILL');
  await until(async () => (await lockWaiters(db())) === 0);
  await holder.commit();
  expect([(await read()).message_count, (await turn())?.state]).toEqual([1, 'queued']);
  await startWorker();
  await answered();
  expect([(await read()).message_count, (await db()('agent_plans').where({ session_id })).length]).toEqual([2, 1]);
});

it('a turn whose workflow is lost is restarted', async () => {
  for (const worker of workers.splice(0)) worker.kill('SIGKILL');
  const worker = await runWorker(app);
  const connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  try {
    const temporal = new Client({ connection });
    // An earlier message whose start is not due makes this one wait.
    const [{ message_id }] = await db()('agent_messages')
      .insert({ session_id, role: 'user', content: 'x' })
      .returning('message_id');
    const own = { correlation_id: message_id, message_id };
    await db()('agent_turns').insert({ session_id, user_id: team.member.user_id, provider: 'rules', ...own });
    const start = {
      kind: 'turn.start',
      subject: message_id,
      payload: JSON.stringify({ message_id, incarnation: 1 }),
      correlation_id: message_id,
    };
    await db()('outbox').insert({ ...start, next_attempt_at: new Date(Date.now() + 600_000) });
    const asked = ask(app.url, 'close it');
    const waiting = await until(() => db()('agent_turns').where({ session_id, state: 'waiting' }).first());
    await temporal.workflow.getHandle(turnWorkflowId(waiting.message_id)).terminate('lost');
    await until(async () => {
      await worker.reconcile();
      return db()('agent_turns').where({ message_id: waiting.message_id, incarnation: 2 }).whereNotNull('claimed_by').first();
    });
    await db()('outbox').where({ kind: 'turn.start', subject: message_id }).update({ next_attempt_at: new Date() });
    expect((await asked)?.status).toBe(200);
    expect(await db()('agent_plans').where({ session_id })).toHaveLength(1);
  } finally {
    await connection.close();
    await worker.stop();
  }
});
