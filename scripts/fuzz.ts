import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { explainArguments } from './admin/explain-failures.js';
import { DEMO_TOKEN } from '../api/platform/demo-token.js';
import { checkInstallation } from './chaos/check.js';
import { startProduct } from './chaos/product.js';
import { allHold, verdictTable } from './chaos/report.js';
import { type Counts, fuzzOnce, obtainSchemathesis } from './fuzz/schemathesis.js';

const USAGE = `Throws generated requests, good and bad, at a copy of the product, by its own OpenAPI document, and judges every answer: no 5xx,
every refusal in the envelope, every status and body as the document says. Then judges what is left in the database. Needs Python 3.

  npm run fuzz                 20,000 requests or more; the copy has a directory and ports of its own
    --cases N                  how many at least
    --seed N                   repeats the choices of an earlier run, which prints its seed
    --only REGEX               only routes whose path matches

Ends with 1 when a check failed.`;

explainArguments(USAGE);
const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '20000' },
    help: { type: 'boolean', default: false },
    only: { type: 'string' },
    seed: { type: 'string' },
  },
});

/** Signs in as Ada, because account routes reject tokens. @throws Error if an earlier round has made that impossible */
async function signIn(url: string): Promise<string> {
  const answer = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: 'ada@demo.test', password: 'demo-password' }),
  });
  const body = (await answer.json()) as { token?: string };
  if (body.token === undefined) throw new Error(`Ada cannot sign in: ${answer.status} ${JSON.stringify(body)}`);
  return body.token;
}

async function hasEnded(url: string, token: string): Promise<boolean> {
  const { status } = await fetch(`${url}/api/auth/me`, { headers: { Authorization: `Bearer ${token}` } });
  return status === 401;
}

/** A round whose credential an early request has ended tests little. */
async function printWhetherEnded(url: string, token: string, { ended_after }: Counts): Promise<void> {
  if (!(await hasEnded(url, token))) return;
  console.log(
    'The credential of this round has ended in it: most of what followed was refused with 401. The last writes before:',
  );
  for (const write of ended_after) console.log(`  ${write.slice(0, 200)}`);
}

function report(counts: Counts, rounds: number, failed: boolean): void {
  const byStatus = Object.entries(counts.statuses).sort(([a], [b]) => Number(a) - Number(b));
  const total = byStatus.reduce((sum, [, count]) => sum + count, 0);
  const faults = byStatus.filter(([status]) => Number(status) >= 500).reduce((sum, [, count]) => sum + count, 0);
  console.log(`\n${total} requests in ${rounds} rounds: ${byStatus.map(([status, count]) => `${count} × ${status}`).join(', ')}`);
  console.log(`${faults} answers of 5xx, ${counts.violations.length} violations of the envelope`);
  for (const violation of counts.violations) console.log(JSON.stringify(violation));
  console.log(failed ? 'Failed: see above, each with the request that shows it' : 'Every check of every phase passed');
}

async function main(): Promise<number> {
  const cases = Number(values.cases);
  const firstSeed = Number(values.seed ?? Date.now() % 1_000_000);
  if (values.help || !Number.isInteger(cases) || !Number.isInteger(firstSeed)) {
    console.log(USAGE);
    return values.help ? 0 : 2;
  }
  const schemathesis = obtainSchemathesis();
  // dist/scripts/fuzz.js is two levels below the checkout.
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const product = await startProduct(root, { api: 1, workers: 1 }, (line) => console.error(line), new Promise(() => undefined));
  const [url = ''] = product.urls;
  const all: Counts = { statuses: {}, violations: [], ended_after: [] };
  const total = () => Object.values(all.statuses).reduce((sum, count) => sum + count, 0);
  let failed = false;
  let round = 0;
  try {
    // Before the first round, whose wrong passwords may lock the account.
    let session = await signIn(url);
    for (; total() < cases; round += 1) {
      // Alternates between a token and a session: each may use routes that reject the other.
      if (round > 1 && (await hasEnded(url, session))) session = await signIn(url);
      const token = round % 2 === 0 ? DEMO_TOKEN : session;
      const seed = firstSeed + round;
      console.log(`\nRound ${round + 1}, as a ${round % 2 === 0 ? 'token' : 'person'}, seed ${seed}`);
      const { passed, counts } = await fuzzOnce({ schemathesis, root, url, token, seed, only: values.only, dir: product.dir });
      await printWhetherEnded(url, token, counts);
      failed ||= !passed;
      for (const [status, count] of Object.entries(counts.statuses)) all.statuses[status] = (all.statuses[status] ?? 0) + count;
      all.violations.push(...counts.violations);
    }
    report(all, round, failed);
    const verdicts = await checkInstallation({ ...process.env, ...product.env });
    for (const line of verdictTable(verdicts)) console.log(line);
    return failed || !allHold(verdicts) ? 1 : 0;
  } finally {
    await product.stop(false);
  }
}

process.exit(
  await main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }),
);
