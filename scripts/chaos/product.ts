import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { UNLIMITED } from '../../api/platform/endpoint/limits.js';

/** Number of processes of each kind. */
export interface Size {
  api: number;
  workers: number;
}

interface RunState {
  ready: boolean;
  processes: Record<string, { pid: number }>;
  env: Record<string, string>;
}

/** A copy of the product with its own directory, ports and supervisor. */
export interface Product {
  dir: string;
  /** Settings of commands that connect to it. */
  env: Record<string, string>;
  /** One address per API process. */
  urls: string[];
  /** Processes that may be killed: `api`, `api-2`, `worker`, `temporal`, `postgres`, ... */
  victims: string[];
  /** Pid of the process with this name; undefined while it is down. */
  findPid: (name: string) => number | undefined;
  /** Deletes Temporal's store; called just after Temporal was killed. */
  deleteStore: () => void;
  /** Ends everything it started, by pid, and removes its directory unless told to keep it. */
  stop: (keep: boolean) => Promise<void>;
}

const START_MS = 180_000;
const STOP_MS = 15_000;
const PORTS = ['PORT', 'METRICS_PORT', 'WORKER_METRICS_PORT', 'PG_PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT'] as const;
/** Settings that would connect elsewhere; set to empty, so that no .env file overrides them. */
const CLEARED = [
  'DATABASE_URL',
  'TEMPORAL_ADDRESS',
  'TEMPORAL_NAMESPACE',
  'TEMPORAL_UI_URL',
  'BASE_URL',
  'TASK_QUEUE_PREFIX',
] as const;
/** Rate limits are not under test here. */
const LIMITS = {
  ...UNLIMITED,
  // Shorter than a caller's timeout, so that a message which no worker begins ends as a 503.
  AI_CHAT_BEGIN_SECONDS: '5',
  // Short enough for the failed runs of a campaign to have their plans, long enough for a kill within it.
  CI_TRIAGE_SECONDS: '5',
  // The subscribed receiver refuses some requests; a campaign does not wait for hours.
  WEBHOOK_RETRY_SECONDS: '0,1,2,3,5,5,10,10',
  WEBHOOK_TIMEOUT_SECONDS: '3',
};

export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

function makeDir(): string {
  const dir = mkdtempSync(join(realpathSync(tmpdir()), 'assent-copy-'));
  // The database's own user must be able to enter.
  chmodSync(dir, process.getuid?.() === 0 ? 0o711 : 0o700);
  return dir;
}

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

function readState(dir: string): RunState | undefined {
  try {
    return JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as RunState;
  } catch {
    return undefined;
  }
}

async function stopChild(child: ChildProcess, pids: Iterable<number>): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit');
    child.kill('SIGINT');
    await Promise.race([exited, sleep(STOP_MS, undefined, { ref: false })]);
  }
  // Only processes of this copy's own record that its supervisor has not ended.
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  if (child.exitCode === 0) return;
  for (const pid of pids) if (alive(pid)) process.kill(pid, 'SIGKILL');
}

/**
 * Starts the copy and waits until it is ready. `say` receives each line of its supervisor; a rejection of `interrupted` aborts the
 * start. `dir`: the directory that an earlier copy has kept, whose data the new one continues.
 * @throws Error if it does not start
 */
export async function startProduct(
  root: string,
  { api, workers }: Size,
  say: (line: string) => void,
  interrupted: Promise<never>,
  dir = makeDir(),
): Promise<Product> {
  const ports = await freePorts(PORTS.length);
  const env = {
    ...process.env,
    NODE_ENV: 'development',
    DATA_DIR: dir,
    LOG_LEVEL: 'warn',
    ...LIMITS,
    ...Object.fromEntries(CLEARED.map((name) => [name, ''])),
    ...Object.fromEntries(PORTS.map((name, i) => [name, String(ports[i])])),
  };
  const counts = ['--api', String(api), '--workers', String(workers)];
  const child = spawn(process.execPath, [join(root, 'scripts', 'start.mjs'), '--json', '--attached', ...counts], {
    cwd: root,
    env,
    // It ends with its standard input: a killed tool leaves no copy behind that nobody watches over.
    stdio: ['pipe', 'pipe', 'pipe'],
    // Detached from the terminal's Ctrl-C, because it must stop after the load.
    detached: true,
  });
  const pids = new Set<number>();
  createInterface({ input: child.stderr }).on('line', say);
  const stop = async (keep: boolean): Promise<void> => {
    await stopChild(child, pids);
    if (!keep) rmSync(dir, { recursive: true, force: true });
  };
  const ready = once(child.stdout, 'data').then(() => true);
  const failed = once(child, 'exit').then(() => false);
  const broken = interrupted.catch(() => false);
  const started = await Promise.race([ready, failed, broken, sleep(START_MS, false, { ref: false })]);
  const state = readState(dir);
  if (!started || !state) {
    await stop(false);
    throw new Error('The copy of the product did not start');
  }
  return {
    dir,
    env: state.env,
    urls: state.env['API_URLS']?.split(',') ?? [`http://127.0.0.1:${state.env['PORT']}`],
    victims: Object.keys(state.processes),
    findPid(name) {
      const pid = readState(dir)?.processes[name]?.pid;
      if (pid !== undefined) pids.add(pid);
      return pid !== undefined && alive(pid) ? pid : undefined;
    },
    deleteStore() {
      const store = join(dir, 'temporal');
      for (const file of readdirSync(store)) if (file.startsWith('temporal.db')) rmSync(join(store, file));
    },
    stop,
  };
}
