import { mkdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { explainArguments } from './admin/explain-failures.js';
import { SECTIONS, chooseSections } from './bench/sections.js';
import { printResult, type Result, met } from './bench/report.js';
import { Servers } from './bench/servers.js';
import { seed } from './bench/seed.js';

const USAGE = `Measures the product against baselines on servers of its own; nothing needs to run.

  npm run bench -- [options]

  --only NAMES   of ${Object.keys(SECTIONS).join(', ')}, or a group, such as tasks for six of them; all unless given
  --seconds N    of each round of load (3)
  --rounds N     of product and baseline each, by turns (3)
  --paused N     runs that wait at a gate, for the section paused (1000); 10,000 take some five minutes
  --events       the baseline leaves an event with each write, as if someone subscribed to it
  --json         the figures as one JSON document
  --profile DIR  CPU profiles of every process and PostgreSQL's costliest statements go there; the figures are then worse

The exit code says whether it ran, never whether a goal was met.`;

explainArguments(USAGE);
const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    paused: { type: 'string', default: '1000' },
    events: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

async function measure(servers: Servers): Promise<Result[]> {
  const names = chooseSections(options.only?.split(',').map((word) => word.trim()) ?? Object.keys(SECTIONS));
  const load = {
    connections: 16,
    seconds: Number(options.seconds),
    rounds: Number(options.rounds),
    paused: Number(options.paused),
  };
  const say = (text: string) => (options.json ? console.error(text) : console.log(text));
  say(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, PostgreSQL durable (synchronous_commit=on)`);
  await servers.start();
  const world = await seed(servers.db);
  const results: Result[] = [];
  for (const name of names) {
    for (const result of await SECTIONS[name](servers, world, load)) {
      results.push(result);
      if (!options.json) printResult(result);
    }
    await servers.writeStatements(name);
  }
  return results;
}

if (options.help) console.log(USAGE);
else {
  if (options.profile) mkdirSync(options.profile, { recursive: true });
  const servers = new Servers({ profileDir: options.profile && resolve(options.profile), events: options.events });
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= servers.stop());
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => void stop().then(() => process.exit(130)));
  try {
    const results = await measure(servers);
    const goals = results.flatMap((result) => result.goals);
    if (options.json) console.log(JSON.stringify({ at: new Date().toISOString(), load: options, results }, null, 2));
    else console.log(`\n  ${goals.filter(met).length} of ${goals.length} goals met\n`);
  } catch (error) {
    // After Ctrl-C every error is a consequence of the stop.
    if (!stopping) console.error(error instanceof Error ? (error.stack ?? error.message) : error);
    process.exitCode = 1;
  }
  await stop();
}
