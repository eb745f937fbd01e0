/** The API stopped under load, and the API without a worker. */
import { Agent, request } from 'node:http';
import { v7 as uuidv7 } from 'uuid';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { queuePrefix, runWorker, until } from '../support/worker.js';
import { type ApiProcess, killApiProcesses, startApiProcess } from './api-process.js';

/** More by DEGRADE_RESTARTS. */
const RESTARTS = Number(process.env['DEGRADE_RESTARTS'] ?? 8);

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };

beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix() });
  team = await buildTeam(app);
  project = await buildProject(app, team);
});
afterAll(async () => {
  killApiProcesses();
  await app.close();
});

/** Result of one request: a complete response, or an error. */
type Result = { status: number } | { error: string };

function send(url: string, method: string, path: string, agent: Agent | false, body?: object): Promise<Result> {
  const { token } = team.member;
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  };
  return new Promise((resolve) => {
    const fail = (error: Error & { code?: string }) => resolve({ error: error.code ?? error.message });
    const sent = request(`${url}${path}`, { method, agent, headers }, (response) => {
      response.on('error', fail);
      response.on('end', () => resolve({ status: response.statusCode ?? 0 }));
      response.resume();
    });
    sent.on('error', fail);
    sent.end(text);
  });
}

/** Writes that were answered, of all clients. */
let accepted = 0;

/** Creates tasks sequentially until the API is down. Returns the ids of answered and unanswered requests. */
async function createUntilRefused(api: ApiProcess, agent: Agent | false) {
  const answered: string[] = [];
  const unanswered: string[] = [];
  for (;;) {
    const task_id = uuidv7();
    const result = await send(api.url, 'POST', '/api/tasks', agent, { task_id, title: 'x', project_id: project.project_id });
    if ('status' in result) {
      expect(result.status).toBe(201);
      answered.push(task_id);
      accepted += 1;
    } else if (result.error === 'ECONNREFUSED') return { answered, unanswered };
    // A connection that lay idle may be closed while a request is on its way: it was never accepted, and nothing came of it.
    else unanswered.push(task_id);
  }
}

const existing = (task_ids: string[]) => app.services.db('tasks').whereIn('task_id', task_ids).pluck<string[]>('task_id');

it(
  `${RESTARTS} stops under load: whatever was accepted was answered, and nobody is cut off at the deadline`,
  async () => {
    // Alone and in two processes by turns.
    const start = (n: number) => startApiProcess(app, { API_PROCESSES: String(1 + (n % 2)) });
    let next = start(0);
    let total = 0;
    for (let n = 0; n < RESTARTS; n += 1) {
      const api = await next;
      if (n + 1 < RESTARTS) next = start(n + 1);
      const agents = [new Agent({ keepAlive: true }), new Agent({ keepAlive: true }), false, false] as const;
      const clients = Promise.all(agents.map((agent) => createUntilRefused(api, agent)));
      const enough = accepted + 5 + (n % 5) * 4;
      await until(async () => accepted >= enough);
      expect(await api.stop()).toBe(0);
      // Clients that keep sending do not delay the stop until the deadline, which would cut one off.
      expect(api.log()).not.toContain('cutting off');
      for (const agent of agents) if (agent) agent.destroy();
      for (const { answered, unanswered } of await clients) {
        total += answered.length;
        expect(await existing(unanswered)).toEqual([]);
        expect(await existing(answered)).toHaveLength(answered.length);
      }
    }
    expect(total).toBeGreaterThan(RESTARTS * 4);
  },
  60_000 + RESTARTS * 6_000,
);

it('a request under way when the signal comes is finished, new ones are not taken, and readiness goes first', async () => {
  const api = await startApiProcess(app);
  const task = await buildTask(app, team, project);
  const agent = new Agent({ keepAlive: true });
  const blocker = await app.services.db.transaction();
  await blocker('tasks').where({ task_id: task.task_id }).forUpdate();
  const held = send(api.url, 'PATCH', `/api/tasks/${task.task_id}`, agent, { title: 'finished' });
  await until(async () => {
    const sql =
      "select from pg_stat_activity where application_name = 'assent-api' and wait_event_type = 'Lock' and datname = current_database()";
    return (await app.services.db.raw<{ rowCount: number }>(sql)).rowCount > 0;
  });
  const stopped = api.stop();
  await until(async () => (await fetch(`${api.opsUrl}/readyz`)).status === 503);
  expect(await send(api.url, 'GET', '/api/tasks', false)).toEqual({ error: 'ECONNREFUSED' });
  await blocker.rollback();
  expect(await held).toEqual({ status: 200 });
  expect(await stopped).toBe(0);
  expect(api.log()).not.toContain('cutting off');
  agent.destroy();
  expect((await app.services.db('tasks').where({ task_id: task.task_id }).first()).title).toBe('finished');
});

it('after the signal it is not ready but takes requests until the delay is over, so that a load balancer cuts off nobody', async () => {
  const api = await startApiProcess(app, { SHUTDOWN_DELAY_SECONDS: '3' });
  const stopped = api.stop();
  await until(async () => (await fetch(`${api.opsUrl}/readyz`)).status === 503);
  expect(await send(api.url, 'GET', '/api/tasks', false)).toEqual({ status: 200 });
  expect(await stopped).toBe(0);
  expect(await send(api.url, 'GET', '/api/tasks', false)).toEqual({ error: 'ECONNREFUSED' });
});

it('without a worker the API answers, is ready, and reports it; with one it reports that', async () => {
  const api = await startApiProcess(app);
  const ready = async () => (await (await fetch(`${api.opsUrl}/readyz`)).json()) as { ready: boolean; checks: object };
  try {
    expect(await ready()).toMatchObject({ ready: true, checks: { worker: { ok: false }, temporal: { ok: false } } });
    const made = await send(api.url, 'POST', '/api/tasks', false, { title: 'x', project_id: project.project_id });
    expect(made).toEqual({ status: 201 });
    const worker = await runWorker(app);
    await until(async () => {
      const { checks } = await ready();
      return (checks as { worker: { ok: boolean }; temporal: { ok: boolean } }).temporal.ok;
    });
    // A second one has a row of its own: while it lives, the silence of the first takes nothing away.
    const [{ process: first }] = await app.services.db('heartbeats');
    const second = await runWorker(app);
    await until(async () => ((await ready()).checks as { worker: { alive: number } }).worker.alive === 2);
    const silence = app.services.db.raw("now() - interval '1 minute'");
    await worker.stop();
    await app.services.db('heartbeats').where({ process: first }).update({ seen_at: silence });
    expect(await ready()).toMatchObject({ ready: true, checks: { worker: { ok: true, alive: 1 }, temporal: { ok: true } } });
    await second.stop();
    // Silence is noticed by the age of the last beat.
    await app.services.db('heartbeats').update({ seen_at: silence });
    expect(await ready()).toMatchObject({ ready: true, checks: { worker: { ok: false }, temporal: { ok: false } } });
  } finally {
    await api.stop();
  }
});
