import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from '../bench/client.js';
import { drive, type Source } from '../bench/load.js';
import { metered } from '../bench/process-table.js';
import { drained, quiet } from '../bench/quiet.js';
import { deliverySource, taskSources } from '../bench/requests.js';
import { measureRound, warmUp } from '../bench/rounds.js';
import { buildActions, createAutomation } from '../bench/sections/automations.js';
import { seed, type World } from '../bench/seed.js';
import { Servers, type Service } from '../bench/servers.js';
import { type Cost, type Costs, type Kind, KINDS, type Part, PARTS, predict } from './model.js';

/** Few connections, so that requests share few statements: a busier service costs less a request. */
const CONNECTIONS = 2;
const SECONDS = 5;
const IDLE_SECONDS = 20;
const CHECK_SECONDS = 20;
/** Rates a second of the mixed load that checks the costs. */
const CHECK: Record<Kind, number> = { read: 60, list: 10, write: 30, delivery_in: 4, run: 2, delivery_out: 0 };
const SETTINGS = { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' };

interface Bench {
  servers: Servers;
  world: World;
  api: Service;
  worker: Service;
}

/** Amounts since the start, in the units of `Cost` without the division. */
type Amounts = Record<Part, number> & Pick<Cost, 'wal' | 'disk' | 'history'>;

const readStore = async ({ servers }: Bench): Promise<Pick<Cost, 'wal' | 'disk' | 'history'>> => {
  const sql =
    "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal, pg_database_size(current_database())::float8 as disk";
  const { rows } = await servers.db.raw<{ rows: { wal: number; disk: number }[] }>(sql);
  return { ...(rows[0] as { wal: number; disk: number }), history: servers.temporalBytes() };
};

/** What `work` and everything it causes takes, idle work included. */
async function measure(bench: Bench, work: () => Promise<number>): Promise<{ count: number; seconds: number; spent: Amounts }> {
  const { servers, api, worker } = bench;
  await quiet(servers.db);
  const before = await readStore(bench);
  const started = performance.now();
  const readings = { api: api.cpu, worker: worker.cpu, postgres: servers.postgresCpu, temporal: servers.temporalCpu };
  const { result: count, cpu } = await metered(readings, async () => {
    const done = await work();
    await drained(servers.db);
    return done;
  });
  const seconds = (performance.now() - started) / 1_000;
  const after = await readStore(bench);
  const store = { wal: after.wal - before.wal, disk: after.disk - before.disk, history: after.history - before.history };
  const ms = Object.fromEntries(PARTS.map((part) => [part, cpu[part] * 1_000])) as Record<Part, number>;
  return { count, seconds, spent: { ...ms, ...store } };
}

/** Sends requests one after the other on few connections. */
const sends =
  ({ api }: Bench, source: Source) =>
  async (): Promise<number> => {
    const { count, errors } = await drive(api.port, CONNECTIONS, SECONDS, source);
    if (errors > 0) throw new Error(`${errors} of ${count} responses were errors`);
    return count;
  };

const byTurns = (sources: readonly Source[]): Source => {
  let turn = 0;
  return { expect: [200, 201], next: (connection) => (sources[(turn += 1) % sources.length] as Source).next(connection) };
};

/** New tasks in a project, until all that they cause has arrived. */
const creates = (bench: Bench, project: string, ended: () => Promise<number>) => async (): Promise<number> => {
  const before = await ended();
  const until = performance.now() + SECONDS * 1_000;
  let count = 0;
  while (performance.now() < until) {
    await call(bench.api, bench.world, 'POST', '/api/tasks', { title: 'Something to act on', project_id: project });
    count += 1;
  }
  while ((await ended()) - before < count) await sleep(20);
  return count;
};

/** Starts a receiver of webhooks and subscribes it to new tasks. */
async function subscribe({ api, world }: Bench): Promise<{ received: () => Promise<number>; end: () => Promise<void> }> {
  let count = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      count += 1;
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { body } = await call(api, world, 'POST', '/api/webhooks', { url, team_id: world.teamId, events: ['task.created'] });
  return {
    received: () => Promise.resolve(count),
    async end() {
      await call(api, world, 'DELETE', `/api/webhooks/${body['webhook_id'] as string}`);
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Sends at a fixed rate, whatever the responses take. Returns how many succeeded. */
async function pace(api: Service, source: Source, rate: number): Promise<number> {
  const total = rate * CHECK_SECONDS;
  const sockets = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const socket = connect({ host: '127.0.0.1', port: api.port, noDelay: true });
      await once(socket, 'connect');
      return socket;
    }),
  );
  let succeeded = 0;
  for (const socket of sockets)
    socket.on('data', (chunk) => (succeeded += chunk.toString('latin1').match(/HTTP\/1\.1 2/g)?.length ?? 0));
  const started = performance.now();
  for (let i = 0; i < total; i += 1) {
    await sleep(Math.max(0, started + (i * 1_000) / rate - performance.now()));
    sockets[i % sockets.length]?.write(source.next(i % sockets.length));
  }
  const deadline = performance.now() + 10_000;
  while (succeeded < total && performance.now() < deadline) await sleep(20);
  for (const socket of sockets) socket.destroy();
  return succeeded;
}

async function checkMixed(
  bench: Bench,
  costs: Omit<Costs, 'check'>,
  sources: Record<'read' | 'list' | 'write' | 'delivery_in', Source>,
  project: string,
) {
  const runs = async (): Promise<number> => {
    for (let i = 0; i < CHECK.run * CHECK_SECONDS; i += 1) {
      const pause = sleep(1_000 / CHECK.run);
      await call(bench.api, bench.world, 'POST', '/api/tasks', { title: 'Something to act on', project_id: project });
      await pause;
    }
    return CHECK.run * CHECK_SECONDS;
  };
  const names = ['read', 'list', 'write', 'delivery_in'] as const;
  const { seconds, spent } = await measure(bench, async () => {
    const counts = await Promise.all([...names.map((name) => pace(bench.api, sources[name], CHECK[name])), runs()]);
    for (const [i, name] of names.entries())
      if (counts[i] !== CHECK[name] * CHECK_SECONDS)
        throw new Error(`${counts[i]} of ${CHECK[name] * CHECK_SECONDS} ${name} succeeded`);
    return 1;
  });
  const rate = (kind: Kind): number => (CHECK[kind] * CHECK_SECONDS) / seconds;
  const rates = Object.fromEntries(KINDS.map((kind) => [kind, rate(kind)])) as Record<Kind, number>;
  // Each run begins with a write.
  const predicted = predict(costs, { ...rates, write: rates.write + rates.run });
  const measured = Object.fromEntries(PARTS.map((part) => [part, spent[part] / seconds])) as Record<Part, number>;
  return { rates, predicted, measured };
}

/** Measures what each kind of work costs over all processes, on servers of its own. About two minutes. */
export async function measureCosts(say: (line: string) => void): Promise<Costs> {
  const servers = new Servers();
  try {
    await servers.start();
    await servers.startTemporal();
    const world = await seed(servers.db);
    const bench: Bench = { servers, world, api: await servers.startApi(SETTINGS), worker: await servers.startWorker(SETTINGS) };
    const tasks = taskSources(world);
    const sources = {
      read: tasks.get,
      list: tasks.list,
      write: byTurns([tasks.create, tasks.status]),
      delivery_in: deliverySource(),
    };
    for (const source of Object.values(sources)) await warmUp((seconds) => measureRound(servers, bench.api, source, 16, seconds));
    const automation = await createAutomation(bench, buildActions(1));
    const runs = async (): Promise<number> =>
      Number(
        (await servers.db('automation_runs').where({ automation_id: automation.id }).whereNotNull('finished_at').count())[0]?.[
          'count'
        ],
      );

    const rest = await measure(bench, async () => {
      await sleep(IDLE_SECONDS * 1_000);
      return 1;
    });
    const idle = Object.fromEntries(PARTS.map((part) => [part, rest.spent[part] / rest.seconds])) as Record<Part, number>;
    const per = async (kind: Kind, work: () => Promise<number>, without?: Cost): Promise<Cost> => {
      await work();
      const { count, seconds, spent } = await measure(bench, work);
      const one = (of: keyof Amounts): number => {
        const idleSpent = of in idle ? idle[of as Part] * seconds : 0;
        return Math.max(0, (spent[of] - idleSpent) / count - (without?.[of] ?? 0));
      };
      const cost = Object.fromEntries([...PARTS, 'wal', 'disk', 'history'].map((of) => [of, one(of as keyof Amounts)]));
      say(`${kind}: ${count} in ${seconds.toFixed(0)} s`);
      return cost as unknown as Cost;
    };
    const read = await per('read', sends(bench, sources.read));
    const list = await per('list', sends(bench, sources.list));
    const write = await per('write', sends(bench, sources.write));
    const delivery_in = await per('delivery_in', sends(bench, sources.delivery_in));
    const run = await per('run', creates(bench, automation.project, runs), write);
    const receiver = await subscribe(bench);
    const delivery_out = await per('delivery_out', creates(bench, world.projects[0] as string, receiver.received), write);
    await receiver.end();
    const costs = {
      at: new Date().toISOString().slice(0, 10),
      machine: `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}`,
      idle,
      kinds: { read, list, write, delivery_in, run, delivery_out },
    };
    return { ...costs, check: await checkMixed(bench, costs, sources, automation.project) };
  } finally {
    await servers.stop();
  }
}
