import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createRawServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { v7 as uuidv7 } from 'uuid';
import { call } from '../client.js';
import { metered } from '../process-table.js';
import { drained, quiet } from '../quiet.js';
import type { Result, Section } from '../report.js';
import { seed, type World } from '../seed.js';
import type { Servers, Service } from '../servers.js';
import { quantile } from '../statistics.js';

const SETTINGS = { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1', WEBHOOK_TIMEOUT_SECONDS: '15' };
const LATENCY_RUNS = 150;
const REST_MS = 20;
/** Deliveries of the throughput: events times endpoints. */
const EVENTS = 200;
/** Events before them. */
const WARM_UP = 200;
const ENDPOINTS = 10;
/** Teams of dead endpoints, with the most that a team may have. */
const DEAD_TEAMS = 5;
const DEAD_ENDPOINTS = 20;
const FLOOR_AT_ONCE = 100;
const IDLE_MS = 3_000;

interface Receiver {
  url: string;
  /** Time of arrival by entity id. */
  arrived: Map<string, number>;
  count: () => number;
  server: Server;
}

async function startReceiver(): Promise<Receiver> {
  const arrived = new Map<string, number>();
  let count = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const at = performance.now();
      response.end();
      count += 1;
      const id = /"entity_id":"([^"]+)"/.exec(Buffer.concat(chunks).toString())?.[1];
      if (id !== undefined && !arrived.has(id)) arrived.set(id, at);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, arrived, count: () => count, server };
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(1);
}

const subscribe = async (api: Service, world: World, url: string, events: string[]): Promise<string> => {
  const { body } = await call(api, world, 'POST', '/api/webhooks', { url, team_id: world.teamId, events });
  return body['webhook_id'] as string;
};
const unsubscribe = async (api: Service, world: World, ids: readonly string[]): Promise<void> => {
  for (const id of ids) await call(api, world, 'DELETE', `/api/webhooks/${id}`);
};

const create = (api: Service, world: World) =>
  call(api, world, 'POST', '/api/tasks', { title: 'Deliver me', project_id: world.projects[0] });

/** From the answer to a write to the arrival at the receiver, ms. */
async function latencies(api: Service, world: World, { arrived }: Receiver): Promise<number[]> {
  const values: number[] = [];
  for (let n = 0; n < LATENCY_RUNS; n += 1) {
    const { body } = await create(api, world);
    const answered = performance.now();
    const id = body['task_id'] as string;
    await until(() => arrived.has(id));
    values.push(Math.max(0, (arrived.get(id) as number) - answered));
    await sleep(REST_MS);
  }
  return values;
}

/** Duration of a write, ms. */
async function writes(api: Service, world: World): Promise<number[]> {
  const values: number[] = [];
  for (let n = 0; n < LATENCY_RUNS; n += 1) {
    const started = performance.now();
    await create(api, world);
    values.push(performance.now() - started);
    await sleep(5);
  }
  return values;
}

const p50 = (values: number[]): number => quantile(values, 0.5);
const p99 = (values: number[]): number => quantile(values, 0.99);
const text = (values: number[]): string => `p50 ${p50(values).toFixed(1)} ms, p99 ${p99(values).toFixed(1)} ms`;

/** Pending events, as `enqueue_events` writes them. */
const PENDING = /* sql */ `
  insert into outbox (kind, subject, event_id, team_id, project_id, payload, correlation_id)
  select 'event', 'task.created', uuidv7(), :team, :project,
    jsonb_build_object('actor_id', :user::text, 'task', task_json(t), 'changes', '{}'::jsonb), uuidv7()
  from tasks t, generate_series(1, :count::int) where t.task_id = :task`;

const emit = async (db: Knex, { teamId, userId, projects, tasks }: World, count: number): Promise<void> => {
  const [project, task] = [projects[0] as string, tasks[0] as string];
  await db.raw(PENDING, { team: teamId, user: userId, project, task, count });
  await db.raw('notify assent_outbox');
};

/** The least that a delivery takes: one row and one request. Returns deliveries a second. */
async function floor(db: Knex, { url }: Receiver, count: number): Promise<{ rate: number }> {
  await db.raw('create table if not exists floor_deliveries (id uuid primary key, body text)');
  const body = 'x'.repeat(700);
  let left = count;
  const started = performance.now();
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await db.raw('insert into floor_deliveries values (?, ?)', [uuidv7(), body]);
      await (await fetch(url, { method: 'POST', body, headers: { connection: 'close' } })).text();
    }
  };
  await Promise.all(Array.from({ length: FLOOR_AT_ONCE }, work));
  return { rate: (count / (performance.now() - started)) * 1_000 };
}

async function throughput(servers: Servers, world: World, api: Service, worker: Service, receiver: Receiver): Promise<Result> {
  const ids: string[] = [];
  for (let n = 0; n < ENDPOINTS; n += 1) ids.push(await subscribe(api, world, receiver.url, ['task.created']));
  // Until every connection has settled on its plans.
  const warmedUp = receiver.count() + WARM_UP * ENDPOINTS;
  await emit(servers.db, world, WARM_UP);
  await until(() => receiver.count() >= warmedUp);
  await sleep(2_000);
  await quiet(servers.db);
  const count = EVENTS * ENDPOINTS;
  const readings = { postgres: servers.postgresCpu, worker: worker.cpu };
  const idle = await metered(readings, () => sleep(IDLE_MS));
  const { result, cpu: used } = await metered(readings, async () => {
    const before = receiver.count();
    const started = performance.now();
    await emit(servers.db, world, EVENTS);
    await until(() => receiver.count() >= before + count);
    const duration = (performance.now() - started) / 1_000;
    await drained(servers.db);
    await sleep(500);
    return { seconds: duration, all: (performance.now() - started) / 1_000 };
  });
  const { seconds, all } = result;
  // What the worker does at rest is no delivery's cost.
  const rest = (all * 1_000) / IDLE_MS;
  const cpu = { postgres: used.postgres - idle.cpu.postgres * rest, worker: used.worker - idle.cpu.worker * rest };
  await unsubscribe(api, world, ids);
  const bare = await metered({ postgres: servers.postgresCpu }, () => floor(servers.db, receiver, count));
  const rate = count / seconds;
  return {
    name: `${count} deliveries to ${ENDPOINTS} endpoints by one worker`,
    goals: [
      { what: 'deliveries a second', value: rate, goal: 200, better: 'more', unit: '/s' },
      { what: 'PostgreSQL a delivery', value: (cpu.postgres / count) * 1e6, goal: 40, better: 'less', unit: ' µs CPU' },
    ],
    notes: [
      `worker ${((cpu.worker / count) * 1e3).toFixed(2)} CPU ms a delivery`,
      `baseline (one insert and one request each): ${bare.result.rate.toFixed(0)}/s, PostgreSQL ${((bare.cpu.postgres / count) * 1e6).toFixed(0)} µs CPU`,
    ],
  };
}

async function latency(api: Service, world: World, receiver: Receiver): Promise<Result> {
  const alone = await writes(api, world);
  const unmatched = await subscribe(api, world, receiver.url, ['note.created']);
  const beside = await writes(api, world);
  await unsubscribe(api, world, [unmatched]);
  const subscribed = await subscribe(api, world, receiver.url, ['task.created']);
  const values = await latencies(api, world, receiver);
  await unsubscribe(api, world, [subscribed]);
  return {
    name: 'from a write to its first delivery',
    goals: [
      { what: 'p50', value: p50(values), goal: 25, better: 'less', unit: ' ms' },
      { what: 'p99', value: p99(values), goal: 100, better: 'less', unit: ' ms' },
    ],
    notes: [`a write without an endpoint ${text(alone)}; with one that is not subscribed to it ${text(beside)}`],
  };
}

/** Endpoints that take a connection and never answer. */
async function dead(servers: Servers, api: Service, world: World, receiver: Receiver): Promise<Result> {
  const hanging = createRawServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(hanging, 'listening');
  const url = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}/`;
  const subscribed = await subscribe(api, world, receiver.url, ['task.created']);
  const alone = await latencies(api, world, receiver);
  for (let n = 0; n < DEAD_TEAMS; n += 1) {
    const other = await seed(servers.db, 5_000, `dead${n}`);
    for (let each = 0; each < DEAD_ENDPOINTS; each += 1) await subscribe(api, other, url, ['task.created']);
    await emit(servers.db, other, EVENTS);
  }
  await quiet(servers.db);
  const beside = await latencies(api, world, receiver);
  await unsubscribe(api, world, [subscribed]);
  hanging.close();
  return {
    name: `first deliveries beside ${DEAD_TEAMS * DEAD_ENDPOINTS} endpoints that hang, ${EVENTS} deliveries each`,
    goals: [{ what: 'p99 more than alone', value: p99(beside) - p99(alone), goal: 20, better: 'less', unit: ' ms' }],
    notes: [`alone   ${text(alone)}`, `beside  ${text(beside)}`],
  };
}

/** Throughput alone, with an API, a worker and a receiver of its own. */
export async function measureThroughput(servers: Servers, world: World): Promise<Result> {
  const api = await servers.startApi(SETTINGS);
  const worker = await servers.startWorker(SETTINGS);
  const receiver = await startReceiver();
  try {
    return await throughput(servers, world, api, worker, receiver);
  } finally {
    await worker.stop();
    await api.stop();
    receiver.server.closeAllConnections();
    receiver.server.close();
  }
}

/** Outbound webhooks: latency, throughput, and what dead endpoints cost the others. */
export const webhooksSection: Section = async (servers, world) => {
  await servers.startTemporal();
  const api = await servers.startApi(SETTINGS);
  const worker = await servers.startWorker(SETTINGS);
  const receiver = await startReceiver();
  try {
    await quiet(servers.db);
    return [
      await latency(api, world, receiver),
      await throughput(servers, world, api, worker, receiver),
      await dead(servers, api, world, receiver),
    ];
  } finally {
    await worker.stop();
    await api.stop();
    receiver.server.closeAllConnections();
    receiver.server.close();
  }
};
