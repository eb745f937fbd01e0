import { parseArgs } from 'node:util';
import { measureGrowth } from './bench/growth.js';
import { Servers } from './bench/servers.js';

const USAGE = `What a request costs when there are 1,000 tasks and when there are 1,000,000: CPU of the API and PostgreSQL, from the process
tables, on servers of its own; nothing needs to run.

  npm run bench:growth -- [options]

  --sizes LIST   numbers of tasks, growing (1000,10000,100000,1000000)
  --seconds N    of each round of load (2)
  --rounds N     of each request at each size (3)

The exit code says whether it ran, never whether a goal was met.`;

const { values: options } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1000,10000,100000,1000000' },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    help: { type: 'boolean', default: false },
  },
});

if (options.help) console.log(USAGE);
else {
  const servers = new Servers();
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= servers.stop());
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => void stop().then(() => process.exit(130)));
  try {
    const sizes = options.sizes.split(',').map(Number);
    await measureGrowth(servers, { sizes, seconds: Number(options.seconds), rounds: Number(options.rounds) });
  } catch (error) {
    if (!stopping) console.error(error instanceof Error ? (error.stack ?? error.message) : error);
    process.exitCode = 1;
  }
  await stop();
}
