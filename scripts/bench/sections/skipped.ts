import { metered } from '../process-table.js';
import { drained, quiet } from '../quiet.js';
import type { Goal, Section } from '../report.js';
import { addProject, type World } from '../seed.js';
import { bearer, expect, send } from '../send.js';
import type { ApiService, Servers, Service } from '../servers.js';

const AUTOMATIONS = 200;
/** Tasks of the request, the maximum. */
const TASKS = 500;
/** Bytes of each description, so that an event that were kept would show. */
const DESCRIPTION = 2_000;

/** Automations of the seeded team whose condition is never true. */
const ARM = /* sql */ `
  with made as (
    insert into automations (name, trigger_type, condition, actions, team_id, created_by, updated_by)
    select 'Never ' || i, 'task.created', 'task.title == "no task has this title"',
      '[{"type": "notify", "params": {"message": "Seen"}}]', :team, :user, :user from generate_series(1, :count::int) i
    returning automation_id, version, name, trigger_type, condition, actions, created_by
  )
  insert into automation_versions (automation_id, version, name, trigger_type, condition, actions, changed_by)
  select automation_id, version, name, trigger_type, condition, actions, created_by from made`;

interface Cost {
  cpu: { api: number; worker: number; postgres: number };
  seconds: number;
  /** Bytes of tables and indexes. */
  stored: number;
  /** Bytes of the write-ahead log. */
  written: number;
}

/** Tables and indexes alone: their maps of free space grow whenever autovacuum runs. */
async function sizes({ db }: Servers): Promise<{ stored: number; written: number }> {
  const { rows } = await db.raw<{ rows: { stored: string; written: string }[] }>(/* sql */ `
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as written, sum(pg_relation_size(c.oid)) as stored
    from pg_class c where c.relkind in ('r', 'i', 't')`);
  return { stored: Number(rows[0]?.stored), written: Number(rows[0]?.written) };
}

/** The cost of one request for 500 tasks, until the worker has processed everything that it caused. */
async function measureCost(servers: Servers, { api, worker }: { api: ApiService; worker: Service }, world: World): Promise<Cost> {
  const project_id = await addProject(servers.db, world, 0);
  const item = { title: 'Check valve', description: 'x'.repeat(DESCRIPTION), project_id };
  const body = JSON.stringify(Array.from({ length: TASKS }, () => item));
  const headers = { ...bearer(world), 'Content-Type': 'application/json' };
  await quiet(servers.db);
  const before = await sizes(servers);
  const started = performance.now();
  const { cpu } = await metered({ api: api.cpu, worker: worker.cpu, postgres: servers.postgresCpu }, async () => {
    await expect(200, send(api.port, '/api/tasks/bulk', headers, body));
    await drained(servers.db);
  });
  const seconds = (performance.now() - started) / 1_000;
  const after = await sizes(servers);
  return { cpu, seconds, stored: after.stored - before.stored, written: after.written - before.written };
}

const countKept = async ({ db }: Servers): Promise<number> => Number((await db('skipped_runs').count())[0]?.['count']);

const total = ({ cpu }: Cost): number => cpu.api + cpu.worker + cpu.postgres;
const megabytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);
const text = (cost: Cost): string =>
  `${megabytes(cost.stored)} MB stored, ${megabytes(cost.written)} MB of log, CPU ${cost.cpu.api.toFixed(2)} API + ` +
  `${cost.cpu.worker.toFixed(2)} worker + ${cost.cpu.postgres.toFixed(2)} PostgreSQL s, done after ${cost.seconds.toFixed(1)} s`;

/** What 200 automations whose condition is false add to one request for 500 tasks. */
export const skippedSection: Section = async (servers, world) => {
  await servers.startTemporal();
  await servers.db('automations').update({ is_active: false });
  const services = { api: await servers.startApi(), worker: await servers.startWorker() };
  await measureCost(servers, services, world);
  const alone = await measureCost(servers, services, world);
  await servers.db.raw(ARM, { team: world.teamId, user: world.userId, count: AUTOMATIONS });
  const before = await countKept(servers);
  const beside = await measureCost(servers, services, world);
  const kept = (await countKept(servers)) - before;
  await servers.db('automations').update({ is_active: false });
  await Promise.all([services.api.stop(), services.worker.stop()]);
  const matches = AUTOMATIONS * TASKS;
  const each = (value: number): number => value / matches;
  const goals: Goal[] = [
    {
      what: 'stored more, each skipped run kept',
      value: (beside.stored - alone.stored) / kept,
      goal: 200,
      better: 'less',
      unit: ' bytes',
    },
    { what: 'stored, times that without', value: beside.stored / alone.stored, goal: 3, better: 'less', unit: '' },
    { what: 'CPU, times that without', value: total(beside) / total(alone), goal: 40, better: 'less', unit: '' },
    { what: 'CPU more, each match', value: each(total(beside) - total(alone)) * 1e6, goal: 100, better: 'less', unit: ' us' },
  ];
  const notes = [
    `without  ${text(alone)}`,
    `with     ${text(beside)}`,
    `of ${matches} matches ${kept} are kept as skipped runs, the others counted`,
  ];
  return [{ name: `${AUTOMATIONS} automations that never fire and one request for ${TASKS} tasks`, goals, notes }];
};
