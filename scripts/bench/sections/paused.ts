import { setTimeout as sleep } from 'node:timers/promises';
import { buildActions, gate, createAutomation, newTask } from './automations.js';
import { metered, readResident } from '../process-table.js';
import { quiet } from '../quiet.js';
import type { Goal, Section } from '../report.js';
import type { Servers, Service } from '../servers.js';
import { sum } from '../statistics.js';

const QUIET_SECONDS = 20;
/** Pause after the last run, because V8 frees memory some seconds after load. */
const SETTLE_MS = 10_000;
/** Time in which a starting worker queries Temporal for every open run. */
const START_SECONDS = 10;
/** Maximum number of created tasks whose runs have not paused yet. */
const UNDER_WAY = 48;
const WARM_UP_RUNS = 50;
const GIVE_UP_MS = 60_000;

/** Size of the runs' own tables; everything else is in the size of the database. */
const SIZES = /* sql */ `
  select sum(pg_total_relation_size(name))::float8 as runs, pg_database_size(current_database())::float8 as everything
  from unnest(array['automation_runs', 'run_actions', 'gates', 'gate_approvals']::regclass[]) as name`;

interface Processes {
  api: Service;
  worker: Service;
}

/** Number of waiting runs of an automation. */
async function waiting({ db }: Servers, automation: string): Promise<number> {
  const [row] = await db('automation_runs').where({ automation_id: automation, status: 'paused' }).count<{ count: string }[]>();
  return Number(row?.count);
}

/** Starts this many more runs through their triggering event and returns when all wait at their gate. */
async function pause(servers: Servers, automation: string, make: () => Promise<unknown>, count: number): Promise<void> {
  const before = await waiting(servers, automation);
  let made = 0;
  let most = 0;
  for (let since = Date.now(); most < count; ) {
    const now = (await waiting(servers, automation)) - before;
    if (now > most) since = Date.now();
    if (Date.now() - since > GIVE_UP_MS) throw new Error(`${now} of ${count} runs wait, and no more for ${GIVE_UP_MS / 1_000} s`);
    most = now;
    const next = Math.min(count - made, UNDER_WAY - (made - most));
    made += next;
    await Promise.all(Array.from({ length: next }, make));
    if (next === 0) await sleep(20);
  }
}

/**
 * Replaces the worker and returns the CPU seconds of its start, which queries Temporal for every open run, as each worker does
 * every ten minutes.
 */
async function restart(servers: Servers, old: Service): Promise<{ worker: Service; seconds: number }> {
  await old.stop();
  // Only runs open for a minute are queried.
  await servers.db.raw(`update automation_runs set queued_at = queued_at - interval '5 minutes'`);
  const { result, cpu } = await metered({ temporal: servers.temporalCpu, postgres: servers.postgresCpu }, async () => {
    const worker = await servers.startWorker();
    await sleep(START_SECONDS * 1_000);
    return worker;
  });
  return { worker: result, seconds: cpu.temporal + cpu.postgres + result.cpu() };
}

/** CPU seconds, memory and bytes after all work is done. */
async function look(servers: Servers, { api, worker }: Processes) {
  const { db } = servers;
  await quiet(db);
  await db.raw('vacuum (analyze)');
  await db.raw('checkpoint');
  await sleep(SETTLE_MS);
  const readings = { api: api.cpu, worker: worker.cpu, temporal: servers.temporalCpu, postgres: servers.postgresCpu };
  const { cpu } = await metered(readings, () => sleep(QUIET_SECONDS * 1_000));
  const { rows } = await db.raw<{ rows: [{ runs: number; everything: number }] }>(SIZES);
  return { cpu, worker: readResident(worker.pid), temporal: servers.temporalBytes(), ...rows[0] };
}

type Look = Awaited<ReturnType<typeof look>>;

const cpuLine = (cpu: Look['cpu']): string =>
  Object.entries(cpu)
    .map(([name, seconds]) => `${name} ${((seconds / QUIET_SECONDS) * 1_000).toFixed(1)}`)
    .join(', ');

/** Cost of runs paused at a gate: idle CPU, memory, and space in both stores. */
export const pausedSection: Section = async (servers, world, { paused }) => {
  await servers.startTemporal();
  const [api, first] = [await servers.startApi(), await servers.startWorker()];
  const automation = await createAutomation({ api, world }, [gate, ...buildActions(1)]);
  const make = () => newTask(api, world, automation.project);
  await pause(servers, automation.id, make, WARM_UP_RUNS);
  const before = await look(servers, { api, worker: first });
  const { worker, seconds: startBefore } = await restart(servers, first);
  const started = performance.now();
  await pause(servers, automation.id, make, paused);
  const seconds = (performance.now() - started) / 1_000;
  const after = await look(servers, { api, worker });
  const { worker: last, seconds: startAfter } = await restart(servers, worker);
  await Promise.all([api.stop(), last.stop()]);
  const more = (of: (one: Look) => number): number => of(after) - of(before);
  const each = (of: (one: Look) => number): string => `${(more(of) / paused / 1_000).toFixed(1)} kB`;
  const cpu: Goal = {
    what: 'more CPU, ms a second',
    value: (more((one) => sum(Object.values(one.cpu))) / QUIET_SECONDS) * 1_000,
    goal: 10,
    better: 'less',
    unit: '',
  };
  const notes = [
    `CPU ms a second, ${QUIET_SECONDS} s in which nothing happens`,
    `  without  ${cpuLine(before.cpu)}`,
    `  with     ${cpuLine(after.cpu)}`,
    `start of a worker, which looks at all of them: ${startBefore.toFixed(1)} CPU s without, ${startAfter.toFixed(1)} with`,
    `each: ${each((one) => one.runs)} of run, actions and gate in PostgreSQL, ${each((one) => one.everything)} with its task, audit, ` +
      `activity, notification and mail; ${each((one) => one.temporal)} in Temporal's store`,
    `worker: ${(more((one) => one.worker) / 2 ** 20).toFixed(0)} MB more RSS;  made in ${seconds.toFixed(0)} s, ${(paused / seconds).toFixed(0)} a second`,
  ];
  return [{ name: `${paused.toLocaleString('en')} runs that wait at their gate`, goals: [cpu], notes }];
};
