/** Runs the real `start.mjs` in a checkout whose API, worker and commands are stubs: what is tested is the supervisor. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { anyFreePort } from '../../scripts/embedded/ports.mjs';
import { serviceUser, temporaryParent } from '../../scripts/embedded/postgres-files.mjs';
import { alive } from '../../scripts/embedded/processes.mjs';

const ROOT = process.cwd();
const SOURCES: Record<string, string> = {
  'api/platform/config.ts': 'export const loadConfig = () => ({});',
  'api/server.ts': `
    import { createServer } from 'node:http';
    const ops = createServer((_request, response) => response.end('{}')).listen(Number(process.env.METRICS_PORT), '127.0.0.1', () => {
      process.send?.({ type: 'ready', port: Number(process.env.PORT) });
    });
    process.on('SIGTERM', () => process.env.STUB_STAYS || process.exit(0));
    export { ops };`,
  'activities/worker.ts': `
    if (process.env.STUB_FAILS) throw new Error('the stub fails on purpose');
    setInterval(() => {}, 1_000);
    process.send?.({ type: 'ready' });
    export {};`,
  'api/web/views/page.eta': '',
  'api/web/assets/page.css': '',
  'workflows/index.ts': 'export const workflow = 1;',
  'scripts/migrate.ts': "if (!process.argv.includes('--seed-demo') || !process.env.DATABASE_URL) process.exit(1);\nexport {};",
  'scripts/build-workflow-bundle.ts': "import { writeFileSync } from 'node:fs';\nwriteFileSync('.build/workflow-bundle.js', '');",
  'scripts/demo.ts': "console.log('talks to', process.env.PORT, process.argv[2]);\nprocess.exit(Number(process.argv[2]));",
};

interface State {
  pid: number;
  ready: boolean;
  processes: Record<string, { pid: number }>;
  env: Record<string, string>;
}

let checkout: string;
let env: NodeJS.ProcessEnv;
let supervisor: Started;

interface Started {
  child: ChildProcess;
  output: { out: string; err: string };
  ended: Promise<number | null>;
}

function script(name: string, args: string[] = [], more: NodeJS.ProcessEnv = {}): Started {
  const child = spawn(process.execPath, [join(checkout, 'scripts', name), ...args], { cwd: checkout, env: { ...env, ...more } });
  const output = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    output.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output.err += chunk;
  });
  return { child, output, ended: new Promise((resolve) => child.once('close', resolve)) };
}

async function until(condition: () => boolean, what: string): Promise<void> {
  for (const deadline = Date.now() + 100_000; !condition(); await sleep(25)) {
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}\n${supervisor.output.err}`);
  }
}

const state = (): State => JSON.parse(readFileSync(join(checkout, '.data', 'run.json'), 'utf8')) as State;
const pids = (): number[] => Object.values(state().processes).map(({ pid }) => pid);

async function start(args: string[] = [], more: NodeJS.ProcessEnv = {}): Promise<void> {
  supervisor = script('start.mjs', ['--json', ...args], more);
  await until(() => supervisor.output.out.includes('\n') || supervisor.child.exitCode !== null, 'the start');
}

beforeAll(async () => {
  checkout = mkdtempSync(join(temporaryParent(serviceUser()), 'assent-checkout-'));
  chmodSync(checkout, 0o711);
  for (const file of ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/embedded']) {
    cpSync(join(ROOT, file), join(checkout, file), { recursive: true, preserveTimestamps: true });
  }
  for (const name of ['start', 'build', 'run', 'embedded/reset', 'doctor'])
    cpSync(join(ROOT, `scripts/${name}.mjs`), join(checkout, `scripts/${name}.mjs`));
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  for (const [file, text] of Object.entries(SOURCES)) {
    mkdirSync(dirname(join(checkout, file)), { recursive: true });
    writeFileSync(join(checkout, file), text);
  }
  env = { PATH: process.env.PATH, HOME: process.env.HOME, XDG_CACHE_HOME: process.env.XDG_CACHE_HOME };
  for (const name of ['PORT', 'METRICS_PORT', 'PG_PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT'])
    env[name] = String(await anyFreePort());
  env.TEMPORAL_CLI_PATH = process.env.TEMPORAL_CLI_PATH;
  await start();
});

afterAll(async () => {
  supervisor.child.kill('SIGINT');
  await supervisor.ended;
  rmSync(checkout, { recursive: true, force: true });
});

test('a start prints its facts as JSON and leaves the addresses in a private file', () => {
  expect(JSON.parse(supervisor.output.out)).toMatchObject({
    api: `http://localhost:${env.PORT}/api`,
    database: `postgres://assent@127.0.0.1:${env.PG_PORT}/assent`,
    password_file: './.data/postgres-password',
    demo: { password: 'demo-password' },
  });
  expect(state()).toMatchObject({ ready: true, pid: supervisor.child.pid, env: { PORT: env.PORT, NODE_ENV: 'development' } });
  expect(Object.keys(state().processes).sort()).toEqual(['api', 'postgres', 'temporal', 'worker']);
  expect(statSync(join(checkout, '.data', 'run.json')).mode & 0o077).toBe(0);
});

test('a second start says that one runs and touches nothing', async () => {
  const before = pids();
  const second = script('start.mjs');
  expect(await second.ended).toBe(1);
  expect(second.output.err).toContain(`Assent already runs in this checkout (process ${supervisor.child.pid}`);
  expect(pids()).toEqual(before);
  expect(before.every(alive)).toBe(true);
});

test('a command finds the running service, and its exit code comes through', async () => {
  const command = script('run.mjs', ['demo', '3']);
  expect(await command.ended).toBe(3);
  expect(command.output.out).toBe(`talks to ${env.PORT} 3\n`);
});

test('names and restarts killed processes', async () => {
  const before = state().processes;
  for (const { pid } of Object.values(before)) process.kill(pid, 'SIGKILL');
  await until(() => supervisor.output.err.split('runs again').length > 4, 'four restarts');
  expect(supervisor.output.err).toContain('PostgreSQL stopped (killed by SIGKILL)');
  for (const [name, { pid }] of Object.entries(state().processes)) expect(pid).not.toBe(before[name]?.pid);
});

test('after kill -9 of the supervisor the next start stops what it left behind', async () => {
  const orphans = pids();
  supervisor.child.kill('SIGKILL');
  await supervisor.ended;
  expect(orphans.every(alive)).toBe(true);
  const doctor = script('doctor.mjs');
  await doctor.ended;
  expect(doctor.output.out).toMatch(
    /warn {2}an earlier start was killed, and left running: .*api.*\n.*npm start stops them first/,
  );
  expect(doctor.output.out).not.toContain('taken: ');
  await start();
  expect(supervisor.output.err).toContain('an earlier start was killed: stopped its api, worker, Temporal, PostgreSQL');
  expect(orphans.some(alive)).toBe(false);
  expect(state().ready).toBe(true);
});

test('Ctrl-C, which npm doubles, stops everything in order', async () => {
  const running = pids();
  supervisor.child.kill('SIGINT');
  supervisor.child.kill('SIGINT');
  expect(await supervisor.ended).toBe(0);
  expect(supervisor.output.err).toContain('stopped cleanly');
  expect(running.some(alive)).toBe(false);
  expect(existsSync(join(checkout, '.data', 'run.json'))).toBe(false);
});

test('a second Ctrl-C kills what still runs, and nothing is said to start again', async () => {
  await start([], { STUB_STAYS: '1' });
  const running = pids();
  supervisor.child.kill('SIGINT');
  await until(() => supervisor.output.err.includes('Ctrl-C again to kill'), 'the first Ctrl-C');
  await sleep(450);
  supervisor.child.kill('SIGINT');
  expect(await supervisor.ended).toBe(130);
  expect(running.some(alive)).toBe(false);
  expect(supervisor.output.err).not.toContain('Starting it again');
});

test('while the sources are watched, what does not compile leaves the old code running until it is saved again', async () => {
  const file = join(checkout, 'workflows', 'index.ts');
  await start(['--watch']);
  await until(() => supervisor.output.err.includes('watching the sources'), 'the watch');
  const before = pids();
  writeFileSync(file, 'export const workflow: string = 2;');
  await until(() => supervisor.output.err.includes('save to try again'), 'the complaint');
  expect(supervisor.output.err).toContain('The TypeScript sources do not compile.');
  expect(supervisor.output.err).not.toContain('run the command again');
  expect(before.every(alive)).toBe(true);
  writeFileSync(file, 'export const workflow = 2;');
  await until(() => supervisor.output.err.includes('rebuilt and restarted'), 'the restart');
  supervisor.child.kill('SIGINT');
  expect(await supervisor.ended).toBe(0);
});

test('a command without a service says what to do', async () => {
  const command = script('run.mjs', ['demo']);
  expect(await command.ended).toBe(1);
  expect(command.output.err).toContain('No service runs in this checkout');
  expect(command.output.err).toContain('npm start');
});

test('a worker that fails is told with its last words, and nothing keeps running', async () => {
  const failing = script('start.mjs', [], { STUB_FAILS: '1' });
  expect(await failing.ended).toBe(1);
  expect(failing.output.err).toContain('The worker did not start (exit code 1)');
  expect(failing.output.err).toContain('the stub fails on purpose');
  expect(existsSync(join(checkout, '.data', 'postgres', 'postmaster.pid'))).toBe(false);
  expect(existsSync(join(checkout, '.data', 'temporal', 'temporal.pid'))).toBe(false);
});

test('an attached start stops everything when its standard input ends, as it does when the program at the other end is killed', async () => {
  const before = supervisor;
  await start(['--attached']);
  const left = pids();
  supervisor.child.stdin?.end();
  expect(await supervisor.ended).toBe(0);
  expect(left.filter(alive)).toEqual([]);
  supervisor = before;
});

test('reset removes the data, and refuses a directory that is not ours', async () => {
  const foreign = script('embedded/reset.mjs', [], { DATA_DIR: join(checkout, 'scripts') });
  expect(await foreign.ended).toBe(1);
  expect(existsSync(join(checkout, 'scripts', 'start.mjs'))).toBe(true);
  const reset = script('embedded/reset.mjs');
  expect(await reset.ended).toBe(0);
  expect(reset.output.out).toContain(`removing ${join(checkout, '.data')}`);
  expect(existsSync(join(checkout, '.data'))).toBe(false);
});
