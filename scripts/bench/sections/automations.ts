import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { run as sql, type Statement } from '../../../db/statement.js';
import { call } from '../client.js';
import { metered } from '../process-table.js';
import { quiet } from '../quiet.js';
import type { Goal, Result, Section } from '../report.js';
import type { BaselineKind, BaselineOrder } from '../baseline-workflow.js';
import type { World } from '../seed.js';
import type { Servers, Service } from '../servers.js';
import { median, quantile, sum } from '../statistics.js';

/** Runs of one side, sequential or concurrent. */
interface Batch {
  /** Milliseconds from the cause to the committed effect. */
  latencies: number[];
  seconds: number;
}

interface MeteredBatch {
  result: Batch;
  /** `app` contains `api`, the rest is the worker; the baseline is one process. */
  cpu: { app: number; api: number; temporal: number; postgres: number };
}

interface Setup {
  servers: Servers;
  world: World;
  api: Service;
  worker: Service;
  floor: Service;
}

const LATENCY_RUNS = 150;
const APPROVALS = 60;
const WARM_UP_RUNS = 30;
const WARM_UP_RATE = 600;
const RATE_RUNS = 600;
const IN_FLIGHT = 16;
const POLL_MS = 10;
/** Polling interval for many runs: a lane idles for half of it, a run takes ten times as long. */
const WATCH_MS = 25;
const GIVE_UP_MS = 60_000;
/** Pause between sequential runs, so that the cleanup of the previous one has ended. */
const REST_MS = 30;

/** Milliseconds from the commit of a request's audit entry to that of its run's first effect, by PostgreSQL's clock. */
const SPANS = /* sql */ `
  select distinct on (r.run_id) extract(epoch from pg_xact_commit_timestamp(e.xmin) - pg_xact_commit_timestamp(a.xmin)) * 1000 as ms
  from automation_runs r join effects e using (run_id) join audit_entries a on a.audit_id = any(:causes::uuid[])
  where r.run_id::text = a.entity_id or r.correlation_id = a.audit_id order by r.run_id, e.action_index`;

interface Automation {
  id: string;
  project: string;
}

const setStatus = (status: string) => ({ type: 'set_task_status', params: { task_id: '{{event.task.task_id}}', status } });
export const gate = { type: 'require_approval', params: { role: 'manager' } };
/** Returns actions that each change the triggering task. */
export const buildActions = (count: number): object[] =>
  Array.from({ length: count }, (_, i) => setStatus(i % 2 === 0 ? 'in_progress' : 'in_review'));

/** Creates an automation for the new tasks of a separate project. */
export async function createAutomation({ api, world }: Pick<Setup, 'api' | 'world'>, actions: object[]): Promise<Automation> {
  const project = await call(api, world, 'POST', '/api/projects', { name: 'Automated', team_id: world.teamId });
  const { project_id } = project.body['data'] as { project_id: string };
  const made = await call(api, world, 'POST', '/api/automations', {
    name: 'Act on what is new',
    trigger_type: 'task.created',
    project_id,
    actions,
  });
  return { id: made.body['automation_id'] as string, project: project_id };
}

export const newTask = (api: Service, world: World, project_id: string) =>
  call(api, world, 'POST', '/api/tasks', { title: 'Something to act on', project_id });

/** The latest runs of an automation, by its index, so that polling is cheap. */
const latestStatement: Statement = {
  name: 'bench_latest_runs',
  text: /* sql */ `
    select run_id, correlation_id, status from automation_runs
    where automation_id = $1 order by queued_at desc limit $2`,
};
interface Latest extends Record<string, unknown> {
  run_id: string;
  correlation_id: string;
  status: string;
}

/** Resolves when the run of a cause has this status; reads the latest runs only. */
export async function reached(db: Knex, automation: string, cause: string, status: string): Promise<string> {
  const deadline = Date.now() + GIVE_UP_MS;
  for (;;) {
    const [run] = await sql<Latest>(db, latestStatement, [automation, 1]);
    if (run?.correlation_id === cause && run.status === status) return run.run_id;
    if (Date.now() > deadline) throw new Error(`A run is ${run?.status}, not ${status}, after ${GIVE_UP_MS / 1_000} s`);
    await sleep(POLL_MS);
  }
}

export async function spans(db: Knex, causes: string[]): Promise<number[]> {
  const { rows } = await db.raw<{ rows: { ms: number }[] }>(SPANS, { causes });
  if (rows.length !== causes.length) throw new Error(`${rows.length} effects of ${causes.length} causes`);
  return rows.map((row) => Number(row.ms));
}

/** Product latency: POST /api/tasks triggers a one-action automation. Sequential: the next request follows the end of the run. */
async function productLatency({ servers: { db }, world, api }: Setup, automation: Automation, count: number): Promise<number[]> {
  const causes: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const { id } = await newTask(api, world, automation.project);
    causes.push(id);
    await reached(db, automation.id, id, 'succeeded');
    await sleep(REST_MS);
  }
  return spans(db, causes);
}

/** Those of $3 whose run has ended: only new ones, so that polling is cheap. */
const endedStatement: Statement = {
  name: 'bench_ended_runs',
  text: /* sql */ `
    select correlation_id from (
      select correlation_id, finished_at from automation_runs where automation_id = $1 order by queued_at desc limit $2
    ) latest
    where finished_at is not null and correlation_id = any($3::uuid[])`,
};

/** Product rate with `IN_FLIGHT` concurrent runs: each lane creates its next task after its run. */
async function productRate({ servers: { db }, world, api }: Setup, automation: Automation, count: number): Promise<Batch> {
  const waiting = new Map<string, () => void>();
  const causes: string[] = [];
  let over = false;
  const watch = (async () => {
    while (!over) {
      const values = [automation.id, 4 * IN_FLIGHT, [...waiting.keys()]];
      for (const { correlation_id } of await sql<Pick<Latest, 'correlation_id'>>(db, endedStatement, values)) {
        waiting.get(correlation_id)?.();
        waiting.delete(correlation_id);
      }
      await sleep(WATCH_MS);
    }
  })();
  const lane = async () => {
    while (causes.length < count) {
      const place = causes.push('') - 1;
      const { id } = await newTask(api, world, automation.project);
      causes[place] = id;
      await new Promise<void>((done) => waiting.set(id, done));
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  const seconds = (performance.now() - started) / 1_000;
  over = true;
  await watch;
  return { latencies: await spans(db, causes), seconds };
}

export async function baselineRuns(floor: Service, order: BaselineOrder): Promise<Batch> {
  const body = JSON.stringify(order);
  const response = await fetch(`http://127.0.0.1:${floor.port}/runs`, { method: 'POST', body });
  if (!response.ok) throw new Error(`The baseline answered ${response.status}`);
  return (await response.json()) as Batch;
}

/** Latency from an approval to the effect of the first action behind the gate, sequentially. */
async function approvalLatency({ servers: { db }, world, api }: Setup, automation: Automation, count: number): Promise<number[]> {
  const causes: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const { id } = await newTask(api, world, automation.project);
    const run = await reached(db, automation.id, id, 'paused');
    await sleep(REST_MS);
    causes.push((await call(api, world, 'POST', `/api/automations/runs/${run}/approve`, {})).id);
    await reached(db, automation.id, id, 'succeeded');
  }
  return spans(db, causes);
}

/**
 * Runs both workers on one Temporal server, each on its own queue; the idle one costs almost nothing. `settings`: of the product's
 * processes.
 */
export async function withWorkers<T>(
  servers: Servers,
  world: World,
  work: (setup: Setup) => Promise<T>,
  settings: Record<string, string> = {},
): Promise<T> {
  await servers.startTemporal();
  await servers.db.raw('create table if not exists bench_effects (run_id uuid, index int, primary key (run_id, index))');
  const [api, worker] = [await servers.startApi(settings), await servers.startWorker(settings)];
  const floor = await servers.startFloor('temporal');
  try {
    // Waits until work left by sections without a worker is done, so that it is not counted here.
    await quiet(servers.db);
    await servers.db.raw('checkpoint');
    return await work({ servers, world, api, worker, floor });
  } finally {
    await Promise.all([api.stop(), worker.stop(), floor.stop()]);
  }
}

const milliseconds = (values: number[]): string =>
  `p50 ${quantile(values, 0.5).toFixed(1)} ms  p99 ${quantile(values, 0.99).toFixed(1)} ms  (${values.length} runs)`;

const KINDS: readonly BaselineKind[] = ['plain', 'local'];
/** Names of a goal by its baseline. */
const BESIDE: Record<BaselineKind, string> = {
  plain: 'the bare workflow with ordinary activities',
  local: 'the bare workflow with local activities, started eagerly',
};

/** From an event to its effect: one in flight for the latency, 16 for the rate; product and baselines alternately. */
export const automationSection: Section = (servers, world, { rounds }) =>
  withWorkers(servers, world, async (setup) => {
    const automation = await createAutomation(setup, buildActions(1));
    const product: number[] = [];
    const bare: Record<BaselineKind, number[]> = { plain: [], local: [] };
    const share = Math.ceil(LATENCY_RUNS / rounds);
    const bareRuns = (kind: BaselineKind, count: number) =>
      baselineRuns(setup.floor, { count, inFlight: 1, pauseMs: REST_MS, inserts: 1, kind });
    await productLatency(setup, automation, WARM_UP_RUNS);
    for (const kind of KINDS) await bareRuns(kind, WARM_UP_RUNS);
    for (let i = 0; i < rounds; i += 1) {
      product.push(...(await productLatency(setup, automation, share)));
      for (const kind of KINDS) bare[kind].push(...(await bareRuns(kind, share)).latencies);
    }
    const goals = KINDS.map((kind): Goal => {
      const value = quantile(product, 0.5) - quantile(bare[kind], 0.5);
      return { what: `p50, more than ${BESIDE[kind]}`, value, goal: 8, better: 'less', unit: ' ms' };
    });
    const notes = [`product ${milliseconds(product)}`, ...KINDS.map((kind) => `${kind.padEnd(7)} ${milliseconds(bare[kind])}`)];
    return [{ name: 'event to first action, one in flight', goals, notes }, await rateOfRuns(setup, 1, rounds)];
  });

const computeRate = ({ result }: MeteredBatch): number => result.latencies.length / result.seconds;

/** Formats a side's batches: runs per second, latencies, CPU. */
function sideLine(side: string, batches: MeteredBatch[]): string {
  const latencies = batches.flatMap(({ result }) => result.latencies);
  const per = (of: keyof MeteredBatch['cpu']) => ((sum(batches.map(({ cpu }) => cpu[of])) / latencies.length) * 1_000).toFixed(1);
  return (
    `${side} ${median(batches.map(computeRate)).toFixed(1)} runs/s  ${milliseconds(latencies)}  ` +
    `CPU ms a run: ${per('app')} processes (API ${per('api')}), ${per('temporal')} Temporal, ${per('postgres')} PostgreSQL`
  );
}

/**
 * Compares runs of a number of actions with bare workflows of as many activities, `IN_FLIGHT` at a time, alternately. Two
 * baselines: ordinary activities, and local ones started eagerly, which isolate the product's own cost.
 */
async function rateOfRuns(setup: Setup, actions: number, rounds: number): Promise<Result> {
  const { servers, api, worker, floor } = setup;
  const automation = await createAutomation(setup, buildActions(actions));
  const bareRuns = (kind: BaselineKind, count: number) =>
    baselineRuns(floor, { count, inFlight: IN_FLIGHT, pauseMs: 0, inserts: actions, kind });
  const readings = { postgres: servers.postgresCpu, temporal: servers.temporalCpu };
  const share = Math.ceil(RATE_RUNS / rounds);
  const product: MeteredBatch[] = [];
  const bare: Record<BaselineKind, MeteredBatch[]> = { plain: [], local: [] };
  // Warms up the plans of all connections, both workflow caches, and Node's compiled code.
  await productRate(setup, automation, WARM_UP_RATE);
  for (const kind of KINDS) await bareRuns(kind, WARM_UP_RATE);
  for (let i = 0; i < rounds; i += 1) {
    const app = () => api.cpu() + worker.cpu();
    product.push(await metered({ ...readings, app, api: api.cpu }, () => productRate(setup, automation, share)));
    for (const kind of KINDS)
      bare[kind].push(await metered({ ...readings, app: floor.cpu, api: () => 0 }, () => bareRuns(kind, share)));
  }
  const goals = KINDS.map((kind): Goal => {
    const value = median(product.map((one, i) => computeRate(one) / computeRate(bare[kind][i] as MeteredBatch)));
    return { what: `share of the rate of ${BESIDE[kind]}`, value, goal: 0.6, better: 'more', unit: '' };
  });
  const notes = [sideLine('product', product), ...KINDS.map((kind) => sideLine(kind.padEnd(7), bare[kind]))];
  const what = actions === 1 ? 'one action' : `${actions} actions`;
  return { name: `runs of ${what} a second, ${IN_FLIGHT} in flight`, goals, notes };
}

/** The same rate for runs of five actions. */
export const fiveActionsSection: Section = (servers, world, { rounds }) =>
  withWorkers(servers, world, async (setup) => [await rateOfRuns(setup, 5, rounds)]);

/** From an approval to the first action behind the gate. */
export const approvalSection: Section = (servers, world) =>
  withWorkers(servers, world, async (setup) => {
    const automation = await createAutomation(setup, [gate, ...buildActions(1)]);
    await approvalLatency(setup, automation, WARM_UP_RUNS);
    const latencies = await approvalLatency(setup, automation, APPROVALS);
    const value = quantile(latencies, 0.5);
    const goal: Goal = { what: 'p50', value, goal: 30, better: 'less', unit: ' ms' };
    return [{ name: 'approval to first action behind the gate, one in flight', goals: [goal], notes: [milliseconds(latencies)] }];
  });
