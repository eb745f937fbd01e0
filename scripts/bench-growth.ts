import { parseArgs } from 'node:util';
import { explainArguments } from './admin/explain-failures.js';
import { measureAuditGrowth } from './bench/audit/audit-growth.js';
import { measureDeliveries } from './bench/deliveries.js';
import { measureGrowth } from './bench/growth.js';
import { measurePartitions } from './bench/partitions.js';
import { Servers } from './bench/servers.js';

const USAGE = `What growth costs, on servers of its own; nothing needs to run.

  tasks       a request when there are 1,000 tasks and when there are 1,000,000: CPU of the API and PostgreSQL
  partitions  statements on audit entries in 36 partitions and in one table, verification and archives
  audit       reads of a log of 10,000,000 entries of 200 teams over a year: each filter, statistics, exports
  deliveries  webhook deliveries of 200 teams over 30 days: reads, throughput, the end of a day and of an endpoint

  npm run bench:growth -- [options]

  --only LIST    of these (all)
  --sizes LIST   numbers of tasks, growing (1000,10000,100000,1000000)
  --entries N    audit entries (1000000)
  --seconds N    of each round of load (2)
  --rounds N     of each request at each size (3)
  --logged N     audit entries of the part audit (10000000)
  --deliveries N webhook deliveries of the part deliveries (5000000)

The exit code says whether it ran, never whether a goal was met.`;

explainArguments(USAGE);
const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: 'tasks,partitions,audit,deliveries' },
    entries: { type: 'string', default: '1000000' },
    sizes: { type: 'string', default: '1000,10000,100000,1000000' },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    logged: { type: 'string', default: '10000000' },
    deliveries: { type: 'string', default: '5000000' },
    help: { type: 'boolean', default: false },
  },
});

/** Measures one part on servers of its own, which are stopped whatever happens. */
async function onServers(measure: (servers: Servers) => Promise<void>): Promise<void> {
  const servers = new Servers();
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= servers.stop());
  const interrupted = (): void => void stop().then(() => process.exit(130));
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.on(name, interrupted);
  try {
    await measure(servers);
  } catch (error) {
    if (!stopping) console.error(error instanceof Error ? (error.stack ?? error.message) : error);
    process.exitCode = 1;
  }
  await stop();
  for (const name of signals) process.off(name, interrupted);
}

const rounds = Number(options.rounds);
const PARTS: Record<string, (servers: Servers) => Promise<void>> = {
  tasks: (servers) =>
    measureGrowth(servers, { sizes: options.sizes.split(',').map(Number), seconds: Number(options.seconds), rounds }),
  partitions: (servers) => measurePartitions(servers, { entries: Number(options.entries), rounds }),
  audit: (servers) => measureAuditGrowth(servers, Number(options.logged)),
  deliveries: (servers) => measureDeliveries(servers, Number(options.deliveries)),
};

if (options.help) console.log(USAGE);
else
  for (const name of options.only.split(',')) {
    const part = PARTS[name];
    if (part) await onServers(part);
    else {
      console.error(`There is no part ${name}: ${Object.keys(PARTS).join(', ')}`);
      process.exitCode = 1;
    }
  }
