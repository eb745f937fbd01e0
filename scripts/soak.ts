import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { explainArguments } from './admin/explain-failures.js';
import { type Costs, findMostRequests } from './capacity/model.js';
import { allHold, timelineLine, verdictTable } from './chaos/report.js';
import { interruption } from './chaos/run.js';
import { startContainers } from './soak/containers.js';
import { startEmbedded } from './soak/embedded.js';
import { describeMemory } from './soak/judge.js';
import { runPiece } from './soak/run.js';
import { emptyState, longestPiece, readState, type State, writeState } from './soak/state.js';

const USAGE = `Runs the product under even load for hours and kills a random part again and again; then judges memory, tables, queues, and what is left.

  npm run soak                     the containers of npm run production, as root on their machine
    --embedded                     a copy of the product as npm run chaos starts it, with the users of npm run chaos at work too
    --minutes N                    of this piece (30)
    --kill-minutes N               between two kills -9 of a random part; 0: none (10)
    --sample-minutes N             between two samples (1)
    --share N                      of what this machine carries by scripts/capacity/costs.json (0.1)
    --rate N                       requests a second instead
    --continue                     the next piece on the data of the last one, judged together
    --keep                         keeps the data for --continue; so does a piece that breaks a rule
    --state DIR                    where pieces are recorded (.soak)

Memory is judged from the second hour of the longest uninterrupted piece on; a shorter piece prints the growth only. Ends with 1 when a
rule is broken.`;

explainArguments(USAGE);
const { values } = parseArgs({
  options: {
    embedded: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '30' },
    'kill-minutes': { type: 'string', default: '10' },
    'sample-minutes': { type: 'string', default: '1' },
    share: { type: 'string', default: '0.1' },
    rate: { type: 'string' },
    continue: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    state: { type: 'string', default: '.soak' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const began = Date.now();
const logStep = (what: string, detail?: string): void => console.log(timelineLine((Date.now() - began) / 1_000, what, detail));

/** Requests a second of the even load. */
function chooseRate(): number {
  if (values.rate !== undefined) return Math.max(1, Math.round(Number(values.rate)));
  const costs = JSON.parse(readFileSync(join('scripts', 'capacity', 'costs.json'), 'utf8')) as Costs;
  const rate = findMostRequests(costs, { list: 3 / 4, write: 1 / 4 }, cpus().length) * Number(values.share);
  return Math.max(1, Math.round(rate));
}

function describe(state: State): void {
  const longest = longestPiece(state);
  const all = state.pieces.reduce((sum, { minutes }) => sum + minutes, 0);
  const kills = state.pieces.reduce((sum, piece) => sum + piece.kills.length, 0);
  logStep(
    `${state.pieces.length} pieces, ${all.toFixed(0)} minutes in all, ${kills} kills`,
    `the longest uninterrupted one took ${longest.minutes.toFixed(0)} minutes`,
  );
  for (const line of describeMemory(longest.samples)) console.log(`    ${line}`);
  const largest = (longest.samples.findLast(({ tables }) => tables.length > 0)?.tables ?? []).slice(0, 6);
  const sizes = largest.map(
    ({ name, bytes, indexBytes }) => `${name} ${(bytes / 1e6).toFixed(1)} MB (indexes ${(indexBytes / 1e6).toFixed(1)})`,
  );
  console.log(`    largest tables: ${sizes.join(', ')}`);
}

async function main(): Promise<number> {
  const [minutes, killMinutes, sampleMinutes] = [values.minutes, values['kill-minutes'], values['sample-minutes']].map(
    Number,
  ) as [number, number, number];
  const rate = chooseRate();
  if (values.help || !(minutes > 0 && killMinutes >= 0 && sampleMinutes > 0 && rate > 0)) {
    console.error(USAGE);
    return values.help ? 0 : 2;
  }
  const file = join(values.state, 'state.json');
  const state = values.continue ? readState(file) : emptyState(values.embedded ? 'embedded' : 'containers');
  const interrupted = interruption(logStep);
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const target =
    state.kind === 'embedded'
      ? await startEmbedded(root, state, (line) => logStep('  supervisor', line.trim()), interrupted)
      : await startContainers(values.continue);
  logStep('ready', `${target.base()}, ${rate} requests a second`);
  let keep = true;
  try {
    const options = {
      minutes,
      killMinutes,
      sampleMinutes,
      rate,
      seed: Date.now() % 1_000_000,
      logStep,
      save: () => writeState(file, state),
    };
    const verdicts = await Promise.race([runPiece(target, state, options), interrupted]);
    for (const line of verdictTable(verdicts)) console.log(line);
    describe(state);
    keep = values.keep || !allHold(verdicts);
    return allHold(verdicts) ? 0 : 1;
  } finally {
    await target.stop(keep);
    if (keep) logStep('kept for --continue', state.dir ?? 'the containers');
  }
}

const code = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  return 1;
});
process.exit(code);
