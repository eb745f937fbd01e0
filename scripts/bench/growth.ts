import type { Source } from './load.js';
import { deliverySource, taskSources } from './requests.js';
import { figuresOf, measureRound, type Round, warmUp } from './rounds.js';
import { addProject, grow, LISTED, seed, type World } from './seed.js';
import type { Servers, Service } from './servers.js';

const CONNECTIONS = 8;
const WARM_UP_SECONDS = 1;
/** Largest cost at the last size, in costs at the first. */
const GOAL = 1.5;

/**
 * PostgreSQL holds a statement's general plan against the plans that a connection made before. One that saw the table grow tenfold in a
 * minute plans its lists anew for hundreds of executions, until their average has followed; connections that a service opens at
 * a size do not.
 */
const FRESH_CONNECTIONS = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'assent-api'";

interface Options {
  sizes: number[];
  seconds: number;
  rounds: number;
}

/** What adds rows comes last, so that the others meet about as many as the line above them says. */
function sourcesOf(world: World): Record<string, Source> {
  const { create, ...others } = taskSources(world);
  return { ...others, create, webhook: deliverySource() };
}

/**
 * Lets Node compile what is hot and every connection make its plans before anything is measured: otherwise the smallest size, the
 * first, would carry the cost. The tasks of that are taken away again.
 */
async function warm(servers: Servers, api: Service, world: World): Promise<World> {
  for (const source of Object.values(sourcesOf(world)))
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

/** CPU milliseconds of one request. @throws Error when an answer is not the expected one */
async function costOf(servers: Servers, api: Service, source: Source, { seconds, rounds }: Options): Promise<Cost> {
  await measureRound(servers, api, source, CONNECTIONS, WARM_UP_SECONDS);
  const measured: Round[] = [];
  for (let i = 0; i < rounds; i += 1) measured.push(await measureRound(servers, api, source, CONNECTIONS, seconds));
  const { cpuApp, cpuPostgres, errors } = figuresOf(measured);
  if (errors > 0) throw new Error(`${errors} answers were not the expected ones`);
  return { api: cpuApp, postgres: cpuPostgres };
}

/** Measures each hot request at each size and prints one line for it: the costs, and the last against the first. */
export async function measureGrowth(servers: Servers, options: Options): Promise<void> {
  const { sizes } = options;
  await servers.start();
  const first = await seed(servers.db, sizes[0]);
  const api = await servers.startApi();
  const world = await warm(servers, api, first);
  // A size is tidied up when it is made; what autovacuum does about that later would be charged to whatever is measured just then.
  await servers.db.raw('alter system set autovacuum = off');
  await servers.db.raw('select pg_reload_conf()');
  const costs = new Map<string, Cost[]>();
  for (const size of sizes) {
    await grow(servers.db, world, size);
    await servers.db.raw('checkpoint');
    await servers.db.raw(FRESH_CONNECTIONS);
    console.log(`${size.toLocaleString('en')} tasks`);
    // Made anew at each size: the requests pick among all tasks there are.
    for (const [name, source] of Object.entries(sourcesOf({ ...world, tasks: await untouched(servers, world) }))) {
      const cost = await costOf(servers, api, source, options);
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

/** Tasks that no earlier size has updated: the source of updates begins with version 1. */
const untouched = (servers: Servers, { projects }: World): Promise<string[]> =>
  servers.db('tasks').whereIn('project_id', projects).where({ version: 1 }).pluck<string[]>('task_id');
