import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from '../../client.js';
import { cpuOfEnded } from '../../process-table.js';
import type { Section } from '../../report.js';
import type { ApiService, Servers } from '../../servers.js';
import { withSides } from '../requests-section.js';
import { about, ask, type Asked, below, type Caller, hireBoth, Times } from './people.js';

const RUNS = 25;
const WARM_UP = 3;
/** Runs of the command that hashes. */
const HASHES = 6;
const FILE_BYTES = 200_000_000;
const FILE = 'plan';
/** A file that was written just now is read once more: it may be written again in the same tick of its clock. */
const SETTLED_MS = 1_000;

/** The program as it is compiled, and one that hashes a file twice with nothing around it. */
const PROGRAM = resolve(import.meta.dirname, '../../../../clients/typescript/cli/main.js');
const BARE_HASH = `
  const { createHash } = require('node:crypto'), { openSync, readSync } = require('node:fs');
  for (let time = 0; time < 2; time += 1) {
    const hash = createHash('sha256'), file = openSync('${FILE}', 'r'), chunk = Buffer.allocUnsafe(1048576);
    for (let read; (read = readSync(file, chunk)) > 0; ) hash.update(chunk.subarray(0, read));
    hash.digest('hex');
  }`;

/** A folder of the command, and the environment in which it asks. */
interface Place {
  dir: string;
  env: Record<string, string>;
}

const start = ({ dir, env }: Place, args: string[]): ChildProcess =>
  spawn(process.execPath, args, { cwd: dir, env, stdio: ['ignore', 'ignore', 'pipe'] });

/** Waits for the end of a program. @throws Error it failed */
async function end(child: ChildProcess, said: () => string = () => ''): Promise<void> {
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`A program ended with ${code}: ${said()}`);
}

/** Runs a command, which is approved as soon as the program has said that it asks. */
async function runApproved(api: ApiService, approver: Caller, place: Place, argv: string[]): Promise<void> {
  const child = start(place, [PROGRAM, 'run', '--no-auto-bind', ...argv]);
  let text = '';
  let decided: Promise<unknown> | undefined;
  child.stderr?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    const id = /asked \S*\/([0-9a-f-]{36})/.exec(text)?.[1];
    if (id !== undefined) decided ??= approveNow(api, approver, id);
  });
  await end(child, () => text);
  await decided;
}

async function approveNow(api: ApiService, approver: Caller, id: string): Promise<void> {
  const asked = (await call(api, approver, 'GET', `/api/change-requests/${id}`)).body as unknown as Asked;
  await about(api, approver, asked, 'approve');
}

/** The calls that a run makes, without a program. */
async function bareCalls(api: ApiService, asker: Caller, approver: Caller): Promise<void> {
  const asked = await ask(api, asker);
  await about(api, approver, asked, 'approve');
  await about(api, asker, asked, 'redeem', { redemption_id: crypto.randomUUID() });
  await call(api, asker, 'POST', `/api/change-requests/${asked.request_id}/outcome`, { status: 'succeeded' });
}

function openPlace({ dir: root }: Servers, api: ApiService, { token }: Caller): Place {
  const dir = join(root, 'command');
  mkdirSync(dir);
  const { PATH = '' } = process.env;
  const own = { ASSENT_URL: `http://127.0.0.1:${api.port}`, ASSENT_TOKEN: token, ASSENT_CONFIG_DIR: join(dir, 'config') };
  return { dir, env: { PATH, HOME: dir, LANG: 'C.UTF-8', ...own } };
}

/** CPU seconds of the programs that end while `work` runs. */
async function meter(work: () => Promise<void>): Promise<number> {
  const before = cpuOfEnded(process.pid);
  await work();
  return cpuOfEnded(process.pid) - before;
}

/** A run of a command with an instant yes, and one that binds 200 MB, each beside the same without Assent. */
export const commandSection: Section = (servers, world) =>
  withSides(servers, async ({ product: api }) => {
    const [asker, approver] = await hireBoth(servers, world);
    const place = openPlace(servers, api, asker);
    const times = new Times(WARM_UP);
    for (let nth = 0; nth < RUNS + WARM_UP; nth += 1) {
      await times.take('a start of Node', () => end(start(place, ['-e', ''])));
      await times.take('the calls alone', () => bareCalls(api, asker, approver));
      await times.take('assent run', () => runApproved(api, approver, place, ['--', 'true']));
    }
    writeFileSync(join(place.dir, FILE), randomBytes(FILE_BYTES));
    await sleep(SETTLED_MS);
    // CPU in ms, as if it were a time.
    const cpu = new Times(1);
    for (let nth = 0; nth < HASHES; nth += 1) {
      cpu.add('bare hashes', (await meter(() => end(start(place, ['-e', BARE_HASH])))) * 1_000);
      cpu.add(
        'bound by assent run',
        (await meter(() => runApproved(api, approver, place, ['--bind', FILE, '--', 'true']))) * 1_000,
      );
      cpu.add('assent run without it', (await meter(() => runApproved(api, approver, place, ['--', 'true']))) * 1_000);
    }
    rmSync(place.dir, { recursive: true });
    return [
      {
        name: 'assent run with an instant yes, from its start to its end',
        goals: [below('p50', times.get('assent run', 0.5), 600)],
        notes: times.describe(),
      },
      {
        name: `${FILE_BYTES / 1e6} MB that assent run hashes twice, CPU`,
        goals: [below('median', cpu.get('bound by assent run', 0.5), 1_000, ' CPU-ms')],
        notes: cpu.describe(),
      },
    ];
  });
