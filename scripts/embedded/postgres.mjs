/** Launcher for the embedded PostgreSQL: creates the cluster once, clears up after a crash, starts, waits for truth, stops. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { StartError } from './errors.mjs';
import { clusterDir, findBinaries, makeDataDir, makePrivateDir, serviceUser } from './postgres-files.mjs';
import { alive, howItEnded, logSize, looksLike, processesIn, spawnLogged, stopPid, tail, track } from './processes.mjs';

const run = promisify(execFile);
const exe = process.platform === 'win32' ? '.exe' : '';
const MAJOR = '18';
const ROLE = 'assent';
const READY_MS = 60_000;
const LEFTOVER_MS = 8_000;

/** The builtin provider sorts and folds the same on every machine; other systems than Linux may not know the C library's C.UTF-8. */
const LOCALE = process.platform === 'linux' ? ['--locale=C.UTF-8'] : ['--locale=C', '--builtin-locale=C.UTF-8'];
const INITDB = `--username=${ROLE} --auth=scram-sha-256 --encoding=UTF8 --locale-provider=builtin --no-sync --no-instructions`
  .split(' ')
  .concat(LOCALE);

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
  wal_level: 'minimal',
  max_wal_senders: '0',
  checkpoint_timeout: '1h',
  max_wal_size: '4GB',
  shared_buffers: '128MB',
  max_connections: '100',
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

/**
 * Creates the cluster when there is none, and makes sure that we know its password.
 * @returns {Promise<string>} the password of role `assent`
 */
async function ensureCluster(ctx, passwordFile) {
  const known = existsSync(passwordFile) ? readFileSync(passwordFile, 'utf8').trim() : '';
  const password = known || randomBytes(24).toString('hex');
  if (!existsSync(join(ctx.cluster, 'PG_VERSION'))) {
    await createCluster(ctx, password);
  } else {
    const major = readFileSync(join(ctx.cluster, 'PG_VERSION'), 'utf8').trim();
    if (major !== MAJOR) {
      throw new StartError(`The data in ${ctx.cluster} belongs to PostgreSQL ${major}, this project runs ${MAJOR}.`, [
        'Start over with fresh demo data: npm run reset',
        `Or keep the data: serve it with PostgreSQL ${major} and set DATABASE_URL.`,
      ]);
    }
    if (!known) await singleUser(ctx, ctx.cluster, `ALTER ROLE ${ROLE} PASSWORD '${password}'`);
  }
  if (!known) writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  return password;
}

/** Runs initdb beside the final name and renames at the end: a cluster that exists is complete, whatever was killed when. */
async function createCluster(ctx, password) {
  const partial = `${ctx.cluster}.partial-${randomBytes(4).toString('hex')}`;
  makePrivateDir(partial, ctx.user);
  const passwordFile = join(partial, 'password');
  const data = join(partial, 'data');
  try {
    writeFileSync(passwordFile, password, { mode: 0o600 });
    if (ctx.user) chownSync(passwordFile, ctx.user.uid, ctx.user.gid);
    await tool(ctx, 'initdb', ['-D', data, '--pwfile', passwordFile, ...INITDB]);
    await singleUser(ctx, data, `CREATE DATABASE ${ROLE}`);
    // Any existing directory here is an incomplete attempt.
    rmSync(ctx.cluster, { recursive: true, force: true });
    renameSync(data, ctx.cluster);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** Runs one statement without a running server and without a password, like PostgreSQL's own initdb. */
async function singleUser(ctx, data, statement) {
  await tool(ctx, 'postgres', ['--single', '-j', '-D', data, '-c', 'log_checkpoints=off', 'postgres'], `${statement};\n\n`);
}

/** Runs a PostgreSQL program to its end as the server's user. */
async function tool({ bin, user }, name, args, input = '') {
  const running = run(join(bin, name + exe), args, {
    cwd: '/',
    env: serverEnv(),
    ...(user ? { uid: user.uid, gid: user.gid } : {}),
  });
  track(running.child);
  running.child.stdin.on('error', () => {});
  running.child.stdin.end(input);
  const result = await running.catch((error) => {
    throw explain(
      `${name} failed`,
      `${error.stderr ?? ''}${error.stdout ?? ''}`.split('\n').filter(Boolean).slice(-12),
      error.message,
    );
  });
  // Single-user mode reports a failed statement on stderr and still exits 0.
  if (/ERROR:|FATAL:/.test(result.stderr)) throw explain(`${name} failed`, result.stderr.split('\n').filter(Boolean));
}

/** Removes PG* and library settings that would affect the embedded server. */
function serverEnv() {
  const { PATH, SystemRoot, TEMP } = process.env;
  return { PATH, ...(SystemRoot ? { SystemRoot, TEMP } : {}) };
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

const CURES = [
  [/Address already in use/, 'The port is taken', 'Choose another PG_PORT, or leave it unset.'],
  [/No space left on device/, 'The disk is full', 'Free some space, or set DATA_DIR to another disk.'],
  [
    /could not access directory|Permission denied|EACCES/,
    'The database user may not enter the directory',
    'Set DATA_DIR to a directory that it can reach, for example below /var/lib.',
  ],
  [
    /has invalid permissions|could not change permissions/,
    'The file system keeps no permissions',
    'Set DATA_DIR to a directory on a native file system.',
  ],
  [/has wrong ownership/, 'The data belongs to another user', 'Start as the user who made it, or start over: npm run reset'],
  [/cannot be run as root|running as root/, 'PostgreSQL does not run as root', 'Run npm start as an ordinary user.'],
  [
    /error while loading shared libraries|Library not loaded/,
    'The binaries miss a library',
    'Reinstall: rm -rf node_modules && npm ci',
  ],
  [
    /Resource temporarily unavailable|Cannot allocate memory|could not create shared memory/,
    'The machine is out of memory',
    'Free some memory, then start again.',
  ],
];

/** Turns log lines into cause and cure. */
function explain(what, lines, message = '') {
  const text = `${lines.join('\n')}\n${message}`;
  const known = CURES.find(([pattern]) => pattern.test(text));
  const or = 'Or set DATABASE_URL to an existing PostgreSQL 18.';
  if (known) return new StartError(`${what}: ${known[1].toLowerCase()}.`, [known[2], or], lines);
  return new StartError(
    `${what}.`,
    ['See what is wrong with this machine: npm run doctor', or],
    lines.length > 0 ? lines : [message],
  );
}
