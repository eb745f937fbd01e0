import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../chaos/random.js';
import type { Verdict } from '../chaos/invariants.js';
import { type Load, startLoad } from '../production/load.js';
import { judgeFailures, judgeMemory, judgeQueues, judgeTables, judgeTitles } from './judge.js';
import { takeSample } from './sample.js';
import { beginPiece, longestPiece, type Piece, type State } from './state.js';
import { type Target, TITLES } from './target.js';

export interface SoakOptions {
  minutes: number;
  /** Minutes between two kills; 0: none. */
  killMinutes: number;
  sampleMinutes: number;
  /** Requests a second of the even load, a quarter of them writes. */
  rate: number;
  seed: number;
  logStep: (what: string, detail?: string) => void;
  /** Stores the state after each sample. */
  save: () => void;
}

/** Kills a random part, which its supervisor restarts. */
async function killOne(target: Target, piece: Piece, minute: number, pick: <T>(items: readonly T[]) => T, options: SoakOptions) {
  const pids = Object.entries(await target.pids());
  if (pids.length === 0) return;
  const [part, pid] = pick(pids);
  process.kill(pid, 'SIGKILL');
  piece.kills.push({ minute, part });
  options.logStep(`kill -9 ${part}`, `process ${pid}`);
}

/** Samples and kills until the minutes are over. */
async function watch(target: Target, piece: Piece, load: Load, options: SoakOptions): Promise<void> {
  const { minutes, killMinutes, sampleMinutes, logStep, save } = options;
  const { pick } = seededRandom(options.seed);
  const began = Date.now();
  const passed = (): number => (Date.now() - began) / 60_000;
  let nextKill = killMinutes > 0 ? killMinutes : Number.POSITIVE_INFINITY;
  for (let nextSample = 0; passed() < minutes; ) {
    if (passed() >= nextSample) {
      const sample = await takeSample(passed(), await target.pids(), target.query);
      piece.samples.push(sample);
      Object.assign(piece, { minutes: passed(), sent: load.sent() });
      save();
      const memory = Object.entries(sample.memory).map(([name, { bytes }]) => `${name} ${(bytes / 1e6).toFixed(0)} MB`);
      const queues = sample.queues.map(({ name, count }) => `${name} ${count}`);
      logStep(`sample ${piece.samples.length}`, [...memory, ...queues].join(', '));
      nextSample += sampleMinutes;
    }
    // Nothing is killed in the last two minutes: what follows a kill belongs to the piece.
    if (passed() >= nextKill && passed() < minutes - 2) {
      await killOne(target, piece, passed(), pick, options);
      nextKill += killMinutes;
    }
    await sleep(500);
  }
  piece.minutes = passed();
}

/** Runs one piece and judges it together with those before. */
export async function runPiece(target: Target, state: State, options: SoakOptions): Promise<Verdict[]> {
  const piece = beginPiece(state);
  const load = startLoad(target.base(), target, options.rate);
  await watch(target, piece, load, options);
  const { sent, failed, created } = await load.stop();
  Object.assign(piece, { sent, failed });
  state.titles.push(...created);
  options.logStep('load stopped', `${sent} requests, ${created.length} acknowledged creations`);
  const verdicts = await target.finish();
  const found = await target.query(TITLES);
  const counts = new Map(found.map((row) => [String(row['title']), Number(row['count'])]));
  piece.samples.push(await takeSample(piece.minutes, await target.pids(), target.query));
  piece.verdicts = [...verdicts, ...judgeTitles(state.titles, counts), judgeFailures(piece), judgeQueues(piece)];
  options.save();
  return [...piece.verdicts, judgeTables(state.pieces.flatMap(({ samples }) => samples)), judgeMemory(longestPiece(state))];
}
