/** PostgreSQL down, unresponsive, or out of connections: 503 in time, and recovery without a restart. */
import { v7 as uuidv7 } from 'uuid';
import type { RunningWorker } from '../../activities/worker/start-worker.js';
import { fromDatabaseError } from '../../api/platform/database/database-errors.js';
import { sign } from '../../api/integrations/forge/deliveries/signature.js';
import { ENDPOINTS } from '../../api/http/router.js';
import { expectEnvelope } from '../envelope/expect-envelope.js';
import { buildAutomation, comment } from '../factories/automations.js';
import { buildCookie, buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { type Answer, startApp, type TestApp } from '../support/app.js';
import { resend } from '../support/resend.js';
import { queuePrefix, runWorker, until } from '../support/worker.js';
import { type ApiProcess, startApiProcess } from './api-process.js';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.js';

/** The client gives up here. The product's limits come to 2 s for a connection and 1.5 s for a lock; the rest is for a busy machine. */
const ANSWER_MS = 15_000;

let app: TestApp;
let api: ApiProcess;
let team: TestTeam;
/** The admin's browser, for pages that require sign-in. */
let cookie: string;
let project: { project_id: string };
let proxy: TcpProxy;

const throughProxy = (): string => {
  const url = new URL(app.database.url);
  url.port = String(proxy.port);
  return url.href;
};

beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix() });
  const { hostname, port } = new URL(app.database.url);
  proxy = await startTcpProxy(hostname, Number(port));
  api = await startApiProcess(app, { DATABASE_URL: throughProxy(), FORGE_WEBHOOK_SECRET: 'gone', DATABASE_POOL_SIZE: '3' });
  team = await buildTeam(app);
  cookie = await buildCookie(app, team.admin);
  project = await buildProject(app, team);
});
afterAll(async () => {
  await api.stop();
  await proxy.close();
  await app.close();
});

async function ask(
  method: string,
  path: string,
  body?: string,
  headers: Record<string, string> = {},
  ms = ANSWER_MS,
): Promise<Answer> {
  const response = await fetch(`${path.startsWith('http') ? '' : api.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${team.admin.token}`, 'content-type': 'application/json', ...headers },
    signal: AbortSignal.timeout(ms),
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}
const signed = (secret = 'gone') => {
  const body = JSON.stringify({ action: 'opened', issue: { number: 1, title: 'x' }, repository: { full_name: 'acme/rocket' } });
  const headers = {
    'x-forge-event': 'issues',
    'x-forge-delivery': uuidv7(),
    'x-hub-signature-256': sign(Buffer.from(body), secret),
  };
  return { body, headers };
};
const expectAway = (answer: Answer): void => {
  expectEnvelope(answer, 503);
  expect(answer.body.error_code).toBe('INTERNAL_ERROR');
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
};
const works = () => until(async () => (await ask('GET', '/api/tasks').catch(() => undefined))?.status === 200, 10_000);

/** Bodies of routes that judge the body of a stranger before they ask the database. */
const BODIES: Record<string, string> = {
  '/api/auth/login': '{"email":"a@b.example","password":"x"}',
  '/api/runners/register': '{"token":"x","name":"x","labels":["linux"],"version":"1.0.0"}',
};

/** One request to each route, as an admin, with an id that could exist. */
const everyRoute = () =>
  ENDPOINTS.filter(({ path }) => path !== '/api/forge/webhooks' && path !== '/api/receipts/jwks').map(({ method, path }) => ({
    route: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    // A service that exists, and a state that could: otherwise it answers without asking the database.
    path: path
      .replace('/:key/callback', '/forge/callback?state=x&code=y')
      .replace('/:key', '/forge')
      .replace(/:(\w+)/g, () => uuidv7()),
    body: method === 'get' || method === 'delete' ? undefined : (BODIES[path] ?? '{}'),
  }));

describe('gone', () => {
  beforeAll(async () => {
    await works();
    await proxy.cut();
  });
  afterAll(async () => {
    await proxy.restore();
    await works();
  });

  it.each(everyRoute())('$route is refused with 503, the envelope and Retry-After', async ({ method, path, body }) => {
    expectAway(await ask(method, path, body, { cookie }));
  });

  it('a signed delivery is refused with 503, never taken; an unsigned one is never taken either', async () => {
    const good = signed();
    expectAway(await ask('POST', '/api/forge/webhooks', good.body, good.headers));
    const bad = signed('not the secret');
    expect([401, 503]).toContain((await ask('POST', '/api/forge/webhooks', bad.body, bad.headers)).status);
    const ping = { ...good.headers, 'x-forge-event': 'ping' };
    expectAway(await ask('POST', '/api/forge/webhooks', good.body, ping));
  });

  it('the process lives, is not ready, and says why', async () => {
    expect((await ask('GET', `${api.opsUrl}/livez`)).status).toBe(200);
    expect(await ask('GET', `${api.opsUrl}/readyz`)).toMatchObject({
      status: 503,
      body: { checks: { postgres: { ok: false } } },
    });
  });

  it('many at once are all refused in time', async () => {
    for (const answer of await Promise.all(Array.from({ length: 40 }, () => ask('GET', '/api/tasks')))) expectAway(answer);
  });
});

it('cut in the middle of requests, again and again: 503 and nothing else, and no write is half there', async () => {
  const seen = new Set<number>();
  const acked: string[] = [];
  let going = true;
  const write = async (): Promise<void> => {
    while (going) {
      const task_id = uuidv7();
      const answer = await ask('POST', '/api/tasks', JSON.stringify({ task_id, title: 'x', project_id: project.project_id }));
      seen.add(answer.status);
      if (answer.status === 201) acked.push(task_id);
      else expectAway(answer);
    }
  };
  const remove = async (): Promise<void> => {
    while (going) {
      const task_id = acked[0];
      if (task_id) expect([200, 404, 503]).toContain((await ask('DELETE', `/api/tasks/${task_id}`)).status);
      else await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const work = Promise.all([write(), write(), write(), remove()]);
  // Until a cut has met a request, and some request has met none.
  for (let n = 0; n < 8 || !seen.has(503) || !seen.has(201); n += 1) {
    await new Promise((resolve) => setTimeout(resolve, 150 + n * 20));
    await proxy.cut();
    await proxy.restore();
  }
  await works();
  going = false;
  await work;
  expect(seen).toEqual(new Set([201, 503]));
  expect(await app.services.db('tasks').whereIn('task_id', acked)).toHaveLength(acked.length);
}, 120_000);

it('mute: open connections are given up, and what comes after is refused in time', async () => {
  await works();
  proxy.swallow(true);
  try {
    // The first ones hang on connections that look alive; no longer than a statement may take.
    const first = await Promise.all(Array.from({ length: 3 }, () => ask('GET', '/api/tasks', undefined, {}, 20_000)));
    for (const answer of first) expectAway(answer);
    expectAway(await ask('GET', '/api/tasks'));
  } finally {
    proxy.swallow(false);
    await proxy.cut();
    await proxy.restore();
  }
  await works();
}, 120_000);

it('a row that stays locked: changes of it are refused in time, and the requests of strangers go on', async () => {
  await works();
  const task = await buildTask(app, team, project);
  const blocker = await app.services.db.transaction();
  await blocker('tasks').where({ task_id: task.task_id }).forUpdate();
  // More than the process has connections.
  const held = Array.from({ length: 4 }, () => ask('PATCH', `/api/tasks/${task.task_id}`, '{"title":"held"}', {}, 15_000));
  await new Promise((resolve) => setTimeout(resolve, 300));
  const stranger = { authorization: `Bearer ${(await buildTeam(app)).admin.token}` };
  const reads = await Promise.all(Array.from({ length: 5 }, () => resend(() => ask('GET', '/api/tasks', undefined, stranger))));
  const changes = await Promise.all(held);
  await blocker.rollback();
  for (const { status } of reads) expect(status).toBe(200);
  for (const answer of changes) expectAway(answer);
  expect(await app.services.db('tasks').where({ task_id: task.task_id }).first()).toMatchObject({ title: task.title });
});

it.each([
  'Connection terminated',
  'Connection terminated unexpectedly',
  'ROLLBACK - Connection terminated unexpectedly',
  'COMMIT; - Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'timeout expired',
  'select 1 - Query read timeout',
])('“%s” means that the database is away, not that we have failed', (message) => {
  expect(fromDatabaseError(new Error(message))).toMatchObject({ status: 503 });
  expect(fromDatabaseError(new Error(`${message} of something else`))).toBeUndefined();
});

it('a worker that loses it in the middle of runs fails none of them, and goes on without a restart', async () => {
  const config = { ...app.services.config, DATABASE_URL: throughProxy() };
  const worker: RunningWorker = await runWorker({ ...app, services: { ...app.services, config } });
  try {
    const steps = Array.from({ length: 6 }, (_, n) => comment(`step ${n}`));
    const automation = await buildAutomation(app, team, { actions: steps });
    const tasks = await Promise.all(Array.from({ length: 15 }, () => buildTask(app, team, project)));
    const effects = async () => (await app.services.db('effects')).length;
    for (const reached of [5, 30, 60]) {
      await until(async () => (await effects()) >= reached);
      await proxy.cut();
      await new Promise((resolve) => setTimeout(resolve, 300));
      await proxy.restore();
    }
    const runs = () => app.services.db('automation_runs').where(automation).pluck<string[]>('status');
    await until(
      async () => (await runs()).every((status) => status !== 'queued' && status !== 'running') && (await runs()).length === 15,
    );
    expect(new Set(await runs())).toEqual(new Set(['succeeded']));
    for (const { task_id } of tasks) expect(await app.services.db('comments').where({ task_id })).toHaveLength(6);
  } finally {
    await worker.stop();
  }
}, 180_000);
