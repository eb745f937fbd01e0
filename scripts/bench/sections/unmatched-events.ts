import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { call } from '../client.js';
import { metered } from '../process-table.js';
import { quiet } from '../quiet.js';
import type { Goal, Result, Section } from '../report.js';
import type { World } from '../seed.js';
import type { Servers, Service } from '../servers.js';

const SECONDS = 6;
/** Events per second: separate passes at the low rate, shared ones at the high rate. */
const RATES = [20, 200, 1_000];

/** The row that `record_change` writes, with the API's notification after the commit. */
const EVENT = /* sql */ `
  insert into outbox (kind, subject, team_id, project_id, payload, correlation_id)
  select 'event', 'task.created', :team, :project, jsonb_build_object('actor_id', :user::text, 'task', task_json(t), 'changes', '{}'::jsonb),
    :id from tasks t where t.task_id = :task`;

type Emit = () => Promise<unknown>;

/** Emits events at a fixed rate for SECONDS; returns their number. */
export async function pace(rate: number, emit: Emit): Promise<number> {
  const count = rate * SECONDS;
  const started = performance.now();
  const under: Promise<unknown>[] = [];
  for (let i = 0; i < count; i += 1) {
    await sleep(Math.max(0, started + (i * 1_000) / rate - performance.now()));
    under.push(emit());
  }
  await Promise.all(under);
  await sleep(200);
  return count;
}

/** Inserts events directly into the outbox: the cost of the relay alone, without the request and its audit entry. */
function rowEmitter({ db }: Servers, { teamId, userId, projects, tasks }: World): Emit {
  return async () => {
    await db.raw(EVENT, { team: teamId, user: userId, project: projects[0] as string, task: tasks[0] as string, id: uuidv7() });
    await db.raw('notify assent_outbox');
  };
}

const requestEmitter =
  (api: Service, world: World): Emit =>
  () =>
    call(api, world, 'POST', '/api/tasks', { title: 'Nobody listens', project_id: world.projects[0] });

interface Cost {
  worker: number;
  postgres: number;
}

/** CPU ms per event of worker and PostgreSQL: with the worker, minus without it, minus the worker's idle CPU. */
async function measureCost(servers: Servers, rate: number, emit: Emit, start: () => Promise<Service>): Promise<Cost> {
  const alone = await metered({ postgres: servers.postgresCpu }, () => pace(rate, emit));
  await servers.db.raw('truncate outbox');
  const worker = await start();
  await quiet(servers.db);
  await sleep(1_000);
  const readings = { worker: worker.cpu, postgres: servers.postgresCpu };
  const idle = await metered(readings, () => sleep(SECONDS * 1_000 + 200));
  const busy = await metered(readings, () => pace(rate, emit));
  await worker.stop();
  const per = (seconds: number) => (seconds / busy.result) * 1_000;
  return {
    worker: per(busy.cpu.worker - idle.cpu.worker),
    postgres: per(busy.cpu.postgres - idle.cpu.postgres - alone.cpu.postgres),
  };
}

const text = ({ worker, postgres }: Cost): string =>
  `${(worker + postgres).toFixed(2)} CPU ms an event (worker ${worker.toFixed(2)}, PostgreSQL ${postgres.toFixed(2)})`;

/** Counts requests to Temporal, except the workers' polling and the lookups of schedules at their start. */
async function asked(servers: Servers, work: () => Promise<unknown>): Promise<{ starts: number; cpu: number }> {
  const STARTS = [
    'StartWorkflowExecution',
    'SignalWithStartWorkflowExecution',
    'SignalWorkflowExecution',
    'ExecuteMultiOperation',
  ];
  const count = async () => {
    const calls = await servers.temporalCalls();
    return STARTS.reduce((total, operation) => total + (calls.get(operation) ?? 0), 0);
  };
  const before = await count();
  const { cpu } = await metered({ temporal: servers.temporalCpu }, work);
  return { starts: (await count()) - before, cpu: cpu.temporal };
}

/** Cost after its commit of an event without a matching automation, which never reaches Temporal. */
export const idleEventSection: Section = async (servers, world) => {
  await servers.startTemporal();
  await servers.db('automations').update({ is_active: false });
  const api = await servers.startApi();
  const results: Result[] = [];
  for (const rate of RATES) {
    const row = await measureCost(servers, rate, rowEmitter(servers, world), () => servers.startWorker());
    const request = await measureCost(servers, rate, requestEmitter(api, world), () => servers.startWorker());
    const goal: Goal = { what: 'CPU ms an event', value: row.worker + row.postgres, goal: 0.3, better: 'less', unit: ' ms' };
    const notes = [`relay alone          ${text(row)}`, `with its audit seal  ${text(request)}`];
    results.push({ name: `an event that arms nothing, ${rate} a second`, goals: [goal], notes });
  }
  const worker = await servers.startWorker();
  await sleep(2_000);
  const idle = await asked(servers, () => sleep(SECONDS * 1_000 + 200));
  const busy = await asked(servers, () => pace(100, rowEmitter(servers, world)));
  const goal: Goal = { what: 'starts and signals', value: busy.starts, goal: 0, better: 'less', unit: '' };
  const notes = [`${100 * SECONDS} events; Temporal's CPU ${busy.cpu.toFixed(2)} s, ${idle.cpu.toFixed(2)} s idle as long`];
  results.push({ name: 'Temporal during events that arm nothing', goals: [goal], notes });
  await Promise.all([worker.stop(), api.stop()]);
  return results;
};
