/** Launcher for the embedded PostgreSQL: clears up after a crash, starts, waits until it is ready, stops. */
import { execFile } from 'node:child_process';
import { readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { StartError } from './errors.mjs';
import { ensureCluster, exe, ROLE, serverEnv } from './postgres-cluster.mjs';
import { explain } from './postgres-errors.mjs';
import { clusterDir, findBinaries, makeDataDir, serviceUser } from './postgres-files.mjs';
import { alive, howItEnded, logSize, looksLike, processesIn, spawnLogged, stopPid, tail } from './processes.mjs';

const run = promisify(execFile);
const READY_MS = 60_000;
const LEFTOVER_MS = 8_000;

const COMMON = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // For two cores and short statements, JIT compilation and idle helper processes cost more than they gain.
  jit: 'off',
  io_method: 'sync',
  max_logical_replication_workers: '0',
};
const DURABLE = {
  ...COMMON,
  synchronous_commit: 'on',
  shared_buffers: '128MB',
  max_connections: '60',
  effective_cache_size: '1GB',
  work_mem: '8MB',
  maintenance_work_mem: '64MB',
};
const TEST = {
  ...COMMON,
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  // When it runs is chance, and plans follow what it counts.
  autovacuum: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  checkpoint_timeout: '1h',
  max_wal_size: '1GB',
  shared_buffers: '128MB',
  // Each test file has pools for an API and often for workers, and several files run at once.
  max_connections: '300',
};

/**
 * @typedef {object} Postgres
 * @property {string} url connection string of database `assent`
 * @property {string} adminUrl the same server, database `postgres`
 * @property {number} port
 * @property {number} pid
 * @property {string} version for example `18.4`
 * @property {string} cluster the data directory
 * @property {Promise<{code: number | null, signal: string | null, error: Error | null}>} exited
 * @property {(graceMs?: number) => Promise<void>} stop
 */

/**
 * Starts PostgreSQL on 127.0.0.1 and returns when it accepts connections. An orphan of an earlier start on the same data is stopped
 * first.
 * @param {{base: string, port: number, log: string, mode: 'durable' | 'test'}} options `base`: directory that holds cluster and password
 * @returns {Promise<Postgres>}
 * @throws {StartError} with the cause and a cure
 */
export async function startPostgres({ base, port, log, mode }) {
  makeDataDir(base);
  const user = serviceUser();
  const { bin, version } = findBinaries(user);
  const cluster = clusterDir(realpathSync(base), user);
  const ctx = { bin, cluster, user, log, port, mode };
  await clearLeftovers(cluster);
  const password = await ensureCluster(ctx, join(base, 'postgres-password'));
  const child = await launch(ctx);
  const at = `postgres://${ROLE}:${password}@127.0.0.1:${port}`;
  return {
    url: `${at}/${ROLE}`,
    adminUrl: `${at}/postgres`,
    port,
    pid: child.pid,
    version,
    cluster,
    exited: child.exited,
    stop: (graceMs = 5_000) => stopServer(child.pid, ctx, graceMs),
  };
}

/**
 * Stops the server of a cluster whose starter is gone, if there is one, and waits for its last backends.
 * The pid file itself is removed only when it names a process that is not PostgreSQL: in every other case the server's own check of
 * the shared memory block is what keeps two servers off one cluster.
 * @param {string} cluster
 * @returns {Promise<boolean>} true when an orphan was stopped
 */
export async function clearLeftovers(cluster) {
  const pidFile = join(cluster, 'postmaster.pid');
  const pid = readPid(pidFile);
  const orphan = pid !== null && looksLike(pid, ['postgres', cluster]);
  if (
    orphan &&
    !(await stopPid(pid, [
      ['SIGINT', 6_000],
      ['SIGQUIT', 3_000],
      ['SIGKILL', 2_000],
    ]))
  ) {
    throw new StartError(
      `An older PostgreSQL (process ${pid}) still runs on ${cluster} and does not stop.`,
      `Stop it: kill -9 ${pid}`,
    );
  }
  const deadline = Date.now() + LEFTOVER_MS;
  while (processesIn(cluster).length > 0) {
    if (Date.now() > deadline)
      throw new StartError(`Processes ${processesIn(cluster).join(', ')} still use ${cluster}.`, 'Stop them, then start again.');
    await sleep(20);
  }
  if (process.platform !== 'win32' && pid !== null && !orphan && alive(pid)) rmSync(pidFile, { force: true });
  return orphan;
}

/** First line of postmaster.pid as a number; null when there is no such file. */
function readPid(pidFile) {
  try {
    const pid = Number.parseInt(readFileSync(pidFile, 'utf8'), 10);
    return Number.isInteger(pid) && pid > 0 ? pid : null;
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}

/** Errors while a killed server is still exiting: its backends, or the unreaped process itself. */
const STILL_LEAVING = /pre-existing shared memory block|lock file "postmaster\.pid" already exists/;

/** Starts the server and waits until its pid file says `ready`, as pg_ctl does. A killed server may need a moment to go. */
async function launch(ctx) {
  const deadline = Date.now() + LEFTOVER_MS;
  for (;;) {
    const from = logSize(ctx.log);
    const child = spawnServer(ctx);
    const ended = await Promise.race([child.exited, readiness(child, ctx)]);
    if (ended === 'ready') return child;
    const lines = tail(ctx.log, 12, from);
    if (!lines.some((line) => STILL_LEAVING.test(line)) || Date.now() > deadline) {
      throw explain(`PostgreSQL did not start (${ended === 'timeout' ? 'not ready in time' : howItEnded(ended)})`, lines);
    }
    await sleep(200);
  }
}

function spawnServer({ bin, cluster, user, log, port, mode }) {
  const settings = Object.entries(mode === 'test' ? TEST : DURABLE).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  return spawnLogged(join(bin, `postgres${exe}`), ['-D', cluster, '-p', String(port), ...settings], {
    log,
    env: serverEnv(),
    cwd: '/',
    ...(user ? { uid: user.uid, gid: user.gid } : {}),
  });
}

async function readiness(child, { cluster }) {
  const deadline = Date.now() + READY_MS;
  while (Date.now() < deadline && child.exitCode === null && child.signalCode === null) {
    if (isReady(join(cluster, 'postmaster.pid'), child.pid)) return 'ready';
    await sleep(10);
  }
  if (child.exitCode !== null || child.signalCode !== null) return child.exited;
  await stopPid(child.pid, [
    ['SIGINT', 1_000],
    ['SIGKILL', 500],
  ]);
  return 'timeout';
}

/** Line 8 of postmaster.pid is the server's own statement of its state. */
function isReady(pidFile, pid) {
  try {
    const lines = readFileSync(pidFile, 'utf8').split('\n');
    return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
  } catch {
    return false;
  }
}

/** Fast shutdown (ends sessions, writes everything); after the grace time immediate shutdown, followed by recovery. */
async function stopServer(pid, { bin, cluster }, graceMs) {
  if (process.platform === 'win32') {
    await run(join(bin, 'pg_ctl.exe'), ['stop', '-D', cluster, '-m', 'fast', '-t', String(Math.ceil(graceMs / 1000))]).catch(
      () => {},
    );
    return;
  }
  await stopPid(pid, [
    ['SIGINT', graceMs],
    ['SIGQUIT', 1_000],
    ['SIGKILL', 500],
  ]);
}
