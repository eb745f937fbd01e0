import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { loadConfig } from '../../api/platform/config.js';
import { openDatabase } from '../../db/connection.js';
import { type Caller, createCaller } from './caller.js';
import { checkInstallation } from './check.js';
import { startRecorder } from './gateway/recorder.js';
import { judgeFiles } from './gateway/secret-files.js';
import type { Verdict } from './invariants.js';
import { type Load, startLoad } from './load.js';
import { type Product, type Size, startProduct } from './product.js';
import { type Random, seededRandom } from './random.js';
import { allHold, verdictTable } from './report.js';
import { startSubscriber } from './subscriber.js';
import { buildWorld } from './world.js';

export interface ChaosOptions extends Size {
  root: string;
  kills: number;
  /** Number of Temporal kills that also delete its store. */
  stores: number;
  seed: number;
  /** Average time between two kills. */
  secondsBetween: number;
  /** Keeps the data, the logs and the ledger. */
  keep: boolean;
  logStep: (what: string, detail?: string) => void;
}

/** Maximum wait without progress for all work to end; a lost workflow is detected within two minutes. */
const QUIET_MS = 240_000;
const SHORT_OF_QUIET = /* sql */ `
  select (select count(*) from outbox) as outbox, (select count(*) from audit_pending) as unsealed,
    (select count(*) from automation_runs where status in ('queued', 'running')) as runs,
    (select count(*) from agent_turns where finished_at is null) as turns,
    (select count(*) from webhook_queue) as webhooks,
    (select count(*) from change_requests where executor = 'assent' and (status = 'approved' or status = 'redeemed' and outcome is null)) as performing,
    (select count(*) from bulk_jobs where status in ('queued', 'running') or undo_status in ('queued', 'running')) as bulk_jobs,
    (select count(*) from forge_deliveries where outcome is null) as deliveries`;

/** A third of the kills follow at once, while the previous process is still restarting. */
const pauseSeconds = (random: Random, average: number): number =>
  random.chance(1 / 3) ? 0.2 + random.next() * 1.3 : average * (0.5 + random.next() * 1.5);

/** Waits until a process runs. @throws Error if it does not restart */
async function awaitPid(product: Product, victim: string): Promise<number> {
  for (let waited = 0; waited < 60_000; waited += 50) {
    const pid = product.findPid(victim);
    if (pid !== undefined) return pid;
    await sleep(50);
  }
  throw new Error(`${victim} did not come back within a minute`);
}

const shuffled = (random: Random, names: readonly string[]): string[] =>
  names
    .map((name) => [random.next(), name] as const)
    .sort(([a], [b]) => a - b)
    .map(([, name]) => name);

/** Kills one process after the other; each round covers every process. */
async function killAll(product: Product, { kills, stores, seed, secondsBetween, logStep }: ChaosOptions): Promise<void> {
  const random = seededRandom(seed);
  let rounds = Math.ceil(kills / product.victims.length);
  let storesLeft = stores;
  let turn: string[] = [];
  for (let n = 1; n <= kills; n += 1) {
    await sleep(pauseSeconds(random, secondsBetween) * 1_000);
    if (turn.length === 0) turn = shuffled(random, product.victims);
    const victim = turn.pop() as string;
    const pid = await awaitPid(product, victim);
    process.kill(pid, 'SIGKILL');
    const isStoreLost = victim === 'temporal' && random.chance(storesLeft / rounds);
    if (isStoreLost) product.deleteStore();
    if (victim === 'temporal') rounds -= 1;
    if (isStoreLost) storesLeft -= 1;
    logStep(`kill -9 ${victim}${isStoreLost ? ' and delete its store' : ''}`, `${n} of ${kills}, process ${pid}`);
  }
}

/**
 * Waits for pending work to end. Returns null when none is left, otherwise what is left after QUIET_MS without progress: the
 * duration depends on the machine, but the end must come.
 */
export async function awaitQuiet(db: Knex): Promise<string | null> {
  let last = 'the database does not answer';
  let least = Number.POSITIVE_INFINITY;
  for (let deadline = Date.now() + QUIET_MS; Date.now() < deadline; await sleep(250)) {
    const found = await db
      .raw<{ rows: Record<string, number>[] }>(SHORT_OF_QUIET)
      .then(({ rows: [row = {}] }) => row)
      .catch(() => undefined);
    if (!found) continue;
    const left = Object.entries(found).filter(([, count]) => count > 0);
    if (left.length === 0) return null;
    last = left.map(([name, count]) => `${count} ${name}`).join(', ');
    const all = left.reduce((sum, [, count]) => sum + Number(count), 0);
    if (all >= least) continue;
    least = all;
    deadline = Date.now() + QUIET_MS;
  }
  return last;
}

/** Checks of the responses that callers got. */
export function judgeAnswers({ dishonest }: Caller, { surprises }: Load, restless: string | null): Verdict[] {
  const verdict = (name: string, words: string, violations: string[]): Verdict => ({
    name,
    words,
    violations: violations.slice(0, 20),
    skipped: null,
  });
  return [
    verdict('all_at_rest', 'Everything came to rest after the last kill', restless === null ? [] : [restless]),
    verdict('refusals_honest', 'What could not be done was refused with 503, the envelope and Retry-After', dishonest),
    verdict('answers_expected', 'Every other answer is one that the contract explains', surprises),
  ];
}

function logLoad({ logStep }: ChaosOptions, { ledger }: Load, { counts }: Caller): void {
  const acked = Object.entries(ledger).map(([name, list]) => `${(list as unknown[]).length} ${name}`);
  logStep('acknowledged', acked.join(', '));
  const answers = [...counts].sort(([a], [b]) => a.localeCompare(b)).map(([what, count]) => `${what}: ${count}`);
  logStep('answers', answers.join(', '));
}

async function torment(product: Product, options: ChaosOptions): Promise<Verdict[]> {
  const { logStep } = options;
  const config = loadConfig(product.env);
  const caller = createCaller(product.urls);
  const world = await buildWorld(caller);
  const subscriber = await startSubscriber(caller, world, options.seed);
  const recorder = await startRecorder(caller, world, options.seed);
  const load = startLoad(caller, world, config.FORGE_WEBHOOK_SECRET ?? '', options.seed);
  load.ledger.received = subscriber.received;
  load.ledger.performed = subscriber.performed;
  load.ledger.acts = recorder.acts;
  logStep('load started');
  try {
    await killAll(product, options);
  } finally {
    await load.stop();
  }
  logStep('load stopped, every outcome known');
  logLoad(options, load, caller);
  const db = openDatabase({ url: config.DATABASE_URL, poolSize: 2, name: 'assent-chaos' });
  try {
    const restless = await awaitQuiet(db);
    logStep(restless === null ? 'everything at rest' : 'not at rest', restless ?? '');
    load.surprises.push(...subscriber.surprises, ...recorder.surprises);
    const ledgerFile = join(product.dir, 'ledger.json');
    writeFileSync(ledgerFile, JSON.stringify(load.ledger));
    const verdicts = [...judgeAnswers(caller, load, restless), ...(await checkInstallation(product.env, ledgerFile))];
    return [...verdicts, await judgeFiles(product.dir)];
  } finally {
    recorder.close();
    subscriber.close();
    await db.destroy();
  }
}

/** Rejects at Ctrl-C and leaves the current state as it is. */
export function interruption(logStep: ChaosOptions['logStep']): Promise<never> {
  return new Promise((_resolve, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        logStep('interrupted, ending what was started');
        reject(new Error(`Interrupted by ${signal}`));
      });
    }
  });
}

/**
 * Runs the whole test: start, load, kills, rest, checks. Returns whether every invariant holds. Ends everything it started, even
 * when interrupted or failing; its own load may still wait for responses, so end the process.
 */
export async function runChaos(options: ChaosOptions): Promise<boolean> {
  const { root, keep, logStep } = options;
  const interrupted = interruption(logStep);
  logStep('starting a copy of the product', `seed ${options.seed}, ${options.kills} kills`);
  const product = await startProduct(root, options, (line) => logStep('  supervisor', line.trim()), interrupted);
  logStep('ready', product.urls.join(' '));
  let verdicts: Verdict[] | undefined;
  try {
    verdicts = await Promise.race([torment(product, options), interrupted]);
    for (const line of verdictTable(verdicts)) console.log(line);
    return allHold(verdicts);
  } finally {
    const kept = keep || (verdicts !== undefined && !allHold(verdicts));
    await product.stop(kept);
    if (kept) logStep('kept', product.dir);
  }
}
