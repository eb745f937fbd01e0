import { requestBytes, type Source } from './load.js';
import { deliverySource, taskSources } from './requests.js';
import { computeFigures, measureRound, type Round, warmUp } from './rounds.js';
import { addProject, grow, LISTED, seed, type World } from './seed.js';
import type { Servers, Service } from './servers.js';

const CONNECTIONS = 8;
const WARM_UP_SECONDS = 1;
/** Maximum ratio of the cost at the last size to that at the first. */
const GOAL = 1.5;

/**
 * PostgreSQL compares a statement's generic plan with the connection's earlier custom plans. A connection that saw the table grow
 * tenfold in a minute replans its lists for hundreds of executions until the average has adapted; connections opened at the final
 * size do not.
 */
const FRESH_CONNECTIONS = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'assent-api'";

interface Options {
  sizes: number[];
  seconds: number;
  rounds: number;
}

/** Sources that add rows come last, so that the others run at about the stated size. */
function buildSources(world: World): Record<string, Source> {
  const { create, ...others } = taskSources(world);
  const headers = { Authorization: `Bearer ${world.token}`, 'User-Agent': 'bench' };
  const bytes = requestBytes('GET', `/api/work-items?team_id=${world.teamId}&limit=50`, headers);
  const items: Source = { expect: 200, next: () => bytes };
  return { ...others, items, create, webhook: deliverySource() };
}

/**
 * Warms up Node and every connection's plans before measuring; otherwise the smallest size, measured first, would pay for it. The
 * tasks created are removed again.
 */
async function warm(servers: Servers, api: Service, world: World): Promise<World> {
  for (const source of Object.values(buildSources(world)))
    await warmUp((seconds) => measureRound(servers, api, source, CONNECTIONS, seconds));
  await servers.db.raw('truncate outbox, item_keys, projects, tasks cascade');
  const empty: World = { ...world, projects: [], tasks: [] };
  return { ...empty, listed: await addProject(servers.db, empty, LISTED) };
}

interface Cost {
  api: number;
  postgres: number;
}

const total = ({ api, postgres }: Cost): number => api + postgres;

/** Returns CPU milliseconds per request. @throws Error for an unexpected response */
async function measureCost(servers: Servers, api: Service, source: Source, { seconds, rounds }: Options): Promise<Cost> {
  await measureRound(servers, api, source, CONNECTIONS, WARM_UP_SECONDS);
  const measured: Round[] = [];
  for (let i = 0; i < rounds; i += 1) measured.push(await measureRound(servers, api, source, CONNECTIONS, seconds));
  const { cpuApp, cpuPostgres, errors } = computeFigures(measured);
  if (errors > 0) throw new Error(`${errors} answers were not the expected ones`);
  return { api: cpuApp, postgres: cpuPostgres };
}

/** Measures each hot request at each size and prints one line: the costs, and the ratio of the last to the first. */
export async function measureGrowth(servers: Servers, options: Options): Promise<void> {
  const { sizes } = options;
  await servers.start();
  const first = await seed(servers.db, sizes[0]);
  const api = await servers.startApi();
  const world = await warm(servers, api, first);
  // Each size is vacuumed explicitly; autovacuum would add its cost to whatever is measured later.
  await servers.db.raw('alter system set autovacuum = off');
  await servers.db.raw('select pg_reload_conf()');
  const costs = new Map<string, Cost[]>();
  for (const size of sizes) {
    await grow(servers.db, world, size);
    await servers.db.raw('checkpoint');
    await servers.db.raw(FRESH_CONNECTIONS);
    console.log(`${size.toLocaleString('en')} tasks`);
    // Recreated at each size, because requests choose among all tasks.
    for (const [name, source] of Object.entries(buildSources({ ...world, tasks: await untouched(servers, world) }))) {
      const cost = await measureCost(servers, api, source, options);
      costs.set(name, [...(costs.get(name) ?? []), cost]);
      await servers.db.raw('truncate outbox');
      console.log(
        `  ${name.padEnd(8)} ${total(cost).toFixed(3)} CPU-ms, API ${cost.api.toFixed(3)}, PostgreSQL ${cost.postgres.toFixed(3)}`,
      );
    }
  }
  console.log(`\n  ${'CPU-ms'.padEnd(8)}${sizes.map((size) => size.toLocaleString('en').padStart(12)).join('')}   last/first`);
  for (const [name, row] of costs) {
    const ratio = total(row.at(-1) as Cost) / total(row[0] as Cost);
    const cells = row.map((cost) => total(cost).toFixed(3).padStart(12)).join('');
    console.log(`  ${name.padEnd(8)}${cells}   ${ratio.toFixed(2)}  ${ratio <= GOAL ? 'met' : 'MISSED'} (goal <= ${GOAL})`);
  }
}

/** Tasks not updated at an earlier size, because the source of updates starts with version 1. */
const untouched = (servers: Servers, { projects }: World): Promise<string[]> =>
  servers.db('tasks').whereIn('project_id', projects).where({ version: 1 }).pluck<string[]>('task_id');
