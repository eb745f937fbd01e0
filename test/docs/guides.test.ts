/** The shell lines of the guide and of README.md, run as a reader pastes them, against the demo data with API and worker. */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { seedDemo } from '../../scripts/demo-data/seed-demo.js';
import { publishKey, signingKey } from '../../api/audit/signing-keys.js';
import type { RunningWorker } from '../../activities/worker/start-worker.js';
import { startApp, type TestApp } from '../support/app.js';
import { queuePrefix, runWorker, until } from '../support/worker.js';

const ROOT = resolve(import.meta.dirname, '../..');
const GUIDE = join(ROOT, 'docs/guide');
const OWN_LINES = ['README.md', ...readdirSync(GUIDE).map((name) => `docs/guide/${name}`)];

const readLines = (page: string): string =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^( *)```sh\n([\s\S]*?)^ *```$/gm)].map(([, , lines]) => lines).join('\n');
const PREPARATION = readLines('docs/guide/README.md');

const LIKE_NPM_START = { OUTBOUND_LOOPBACK: 'allow', WEBHOOK_ALLOWED_HOSTS: '127.0.0.1,localhost', SEED_DEMO: 'on' };

let app: TestApp;
let worker: RunningWorker;
let folder: string;
beforeAll(async () => {
  app = await startApp({ ...LIKE_NPM_START, TEMPORAL_TASK_QUEUE_PREFIX: queuePrefix() });
  await seedDemo(app.services);
  worker = await runWorker(app);
  await publishKey(app.services.config, signingKey(app.services.config));
  // The demo's pull request has been merged for a while when somebody reads.
  await until(() => app.services.db('gates').first());
  folder = join(app.services.config.DATA_DIR, 'reader');
  mkdirSync(folder);
  for (const name of ['clients', 'dist', 'docs', 'README.md']) symlinkSync(join(ROOT, name), join(folder, name));
  symlinkSync(app.services.config.DATA_DIR, join(folder, '.data'));
});
afterAll(async () => {
  await worker.stop();
  await app.close();
});

/** Runs shell lines that end at the first failure. Returns the exit status and everything printed. */
async function runShell(lines: string): Promise<{ status: number | null; printed: string }> {
  const script = `set -euo pipefail\n${lines.replaceAll('localhost:3000', new URL(app.url).host)}`;
  const shell = spawn('bash', ['-c', script], { cwd: folder });
  let printed = '';
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  return new Promise((done) => shell.on('close', (status) => done({ status, printed })));
}

it.each(OWN_LINES.filter((page) => readLines(page) !== ''))('%s runs as pasted and prints what it shows', async (page) => {
  const lines = readLines(page);
  const { status, printed } = await runShell(lines === PREPARATION ? lines : `${PREPARATION}\n${lines}`);
  expect([page, status, status === 0 ? '' : printed.slice(-1500)]).toEqual([page, 0, '']);
  let from = 0;
  for (const [, shown = ''] of lines.matchAll(/# → (.+)$/gm)) {
    const at = printed.indexOf(shown, from);
    if (at === -1) throw new Error(`${page} does not print ${shown}: ${printed.slice(from)}`);
    from = at + shown.length;
  }
});

it('a line that fails makes its page fail', async () => {
  expect((await runShell(`${PREPARATION}\napi /tasks/none\necho unreached`)).status).not.toBe(0);
});
