import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { explainArguments } from './admin/explain-failures.js';
import { checkInstallation } from './chaos/check.js';
import { allHold, timelineLine, verdictTable } from './chaos/report.js';
import { runChaos } from './chaos/run.js';

const USAGE = `Kills processes of a copy of the product under load, then judges what is left. Whatever was killed when, every
acknowledged write is there, every effect happened once, and every run ends.

  npm run chaos                             20 kills at random; the copy has a directory and ports of its own
    --kills N, --n N                        how many
    --api N, --workers N                    how many API and worker processes, each killed and restarted on its own (1 and 1)
    --stores N                              so many of Temporal's kills also delete its store (0)
    --seed N                                repeats the choices of an earlier run, which prints its seed
    --seconds-between N                     on average, between two kills (6)
    --keep                                  leaves data, logs and ledger in place; a run that finds something always does

  npm run chaos -- --check                  only judges: the installation that DATABASE_URL names, or that runs in this checkout
    --ledger FILE                           and what a run acknowledged, as it left it in its directory

Ends with 1 when an invariant is broken.`;

explainArguments(USAGE);
const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    kills: { type: 'string' },
    ledger: { type: 'string' },
    n: { type: 'string' },
    seed: { type: 'string' },
    api: { type: 'string', default: '1' },
    workers: { type: 'string', default: '1' },
    stores: { type: 'string', default: '0' },
    'seconds-between': { type: 'string', default: '6' },
  },
});
const began = Date.now();
const logStep = (what: string, detail?: string): void => console.log(timelineLine((Date.now() - began) / 1_000, what, detail));

async function check(): Promise<boolean> {
  const verdicts = await checkInstallation(process.env, values.ledger);
  for (const line of verdictTable(verdicts)) console.log(line);
  return allHold(verdicts);
}

async function main(): Promise<number> {
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const kills = Number(values.kills ?? values.n ?? 20);
  const secondsBetween = Number(values['seconds-between']);
  const [api, workers, stores] = [values.api, values.workers, values.stores].map(Number) as [number, number, number];
  const areCounts = [kills, stores].every((count) => Number.isInteger(count) && count >= 0);
  const areSizes = [api, workers].every((count) => Number.isInteger(count) && count > 0);
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  if (!areCounts || !areSizes || !(secondsBetween > 0) || !Number.isInteger(seed)) {
    console.error(USAGE);
    return 2;
  }
  if (values.check) return (await check()) ? 0 : 1;
  // dist/scripts/chaos.js is two levels below the checkout.
  const root = fileURLToPath(new URL('../..', import.meta.url));
  return (await runChaos({ root, api, workers, kills, stores, seed, secondsBetween, keep: values.keep, logStep })) ? 0 : 1;
}

const code = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  return 1;
});
process.exit(code);
