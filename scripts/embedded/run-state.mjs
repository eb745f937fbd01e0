/** State of a start under DATA_DIR: a lock against a second start, and `run.json` with the running addresses. */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from './errors.mjs';
import { looksLike, startMark, stopPid } from './processes.mjs';

/**
 * @typedef {object} RunState
 * @property {number} pid the supervisor
 * @property {string} mark tells it from a later process with the same pid
 * @property {boolean} ready everything answers
 * @property {Record<string, {pid: number, mark: string}>} processes by name: postgres, temporal, api, worker, api-2, worker-2, ...
 * @property {Record<string, string>} env settings for commands that talk to the service (DATABASE_URL, PORT, ...)
 */

/** Returns a process's kind from its name in `run.json`: further ones are numbered, as in `worker-2`. */
export const parseKind = (name) => name.replace(/-\d+$/, '');

const stateFile = (dir) => join(dir, 'run.json');
const lockFile = (dir) => join(dir, 'start.lock');

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return null;
    throw error;
  }
}

/** True when the process that wrote the record still is that process. */
function stillRuns(record, needles) {
  return Boolean(record?.pid) && looksLike(record.pid, needles) && startMark(record.pid) === record.mark;
}

/**
 * @param {string} dir DATA_DIR
 * @returns {RunState | null} what the last start wrote, running or not
 */
const readState = (dir) => readJson(stateFile(dir));

/**
 * @param {string} dir DATA_DIR
 * @returns {RunState | null} the running service, null when none runs
 */
export function runningState(dir) {
  const state = readState(dir);
  return stillRuns(state, ['start.mjs']) ? state : null;
}

/** Writes `run.json` atomically; only its owner may read it, because it contains the database's password. */
export function writeState(dir, state) {
  const partial = `${stateFile(dir)}.${process.pid}`;
  writeFileSync(partial, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(partial, stateFile(dir));
}

/**
 * Makes this process the only supervisor of DATA_DIR.
 * @param {string} dir
 * @throws {StartError} when another one runs
 */
export function claim(dir) {
  const own = `${lockFile(dir)}.${process.pid}`;
  writeFileSync(own, JSON.stringify({ pid: process.pid, mark: startMark(process.pid) }), { mode: 0o600 });
  try {
    while (!linked(own, lockFile(dir))) {
      const holder = readJson(lockFile(dir));
      if (stillRuns(holder, ['start.mjs'])) throw alreadyRuns(dir, holder.pid);
      removeStale(dir, holder);
    }
  } finally {
    rmSync(own, { force: true });
  }
}

/** Creates a link with its content atomically, so no process sees a lock without an owner. */
function linked(from, to) {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Removes the lock of a dead supervisor. Two starts may do so concurrently: the moved file is checked, and a live lock is restored.
 */
function removeStale(dir, expected) {
  const aside = `${lockFile(dir)}.stale-${process.pid}`;
  try {
    renameSync(lockFile(dir), aside);
  } catch (error) {
    if (error.code === 'ENOENT') return;
    throw error;
  }
  if (readJson(aside)?.pid !== expected?.pid) linked(aside, lockFile(dir));
  rmSync(aside, { force: true });
}

function alreadyRuns(dir, pid) {
  const url = readState(dir)?.env?.BASE_URL;
  return new StartError(`Assent already runs in this checkout (process ${pid}${url ? `, ${url}` : ''}).`, [
    'Use that one, or stop it with Ctrl-C in its terminal.',
    `Or stop it from here: kill ${pid}`,
    'A second service beside it needs a directory of its own: DATA_DIR=.data-2 npm start',
  ]);
}

/** Releases the directory. */
export function release(dir) {
  rmSync(lockFile(dir), { force: true });
  rmSync(stateFile(dir), { force: true });
}

/**
 * What a killed supervisor left running.
 * @param {string} dir DATA_DIR
 * @returns {{names: string[], ports: Set<number>}} the processes and the ports of that start; nothing while a service runs
 */
export function leftBehind(dir) {
  const state = readState(dir);
  const names = Object.keys(state?.processes ?? {}).filter((name) => stillRuns(state.processes[name], []));
  if (names.length === 0 || runningState(dir)) return { names: [], ports: new Set() };
  const { DATABASE_URL = '', TEMPORAL_ADDRESS = '', ...env } = state.env;
  const settings = ['PORT', 'METRICS_PORT', 'WORKER_METRICS_PORT', 'TEMPORAL_UI_PORT'].map((name) => env[name]);
  const addresses = [DATABASE_URL, TEMPORAL_ADDRESS].map((address) => /:(\d+)(\/|$)/.exec(address)?.[1]);
  return { names, ports: new Set([...settings, ...addresses].map(Number)) };
}

/**
 * Stops API and worker that a killed supervisor left behind (the launchers see to PostgreSQL and Temporal).
 * @param {string} dir DATA_DIR
 * @returns {Promise<string[]>} names of what was stopped
 */
export async function stopOrphanServices(dir) {
  const stopped = [];
  const state = readState(dir);
  const needles = { api: ['api/server.js'], worker: ['activities/worker.js'] };
  for (const [name, record] of Object.entries(state?.processes ?? {}).sort(([a], [b]) => a.localeCompare(b))) {
    const needle = needles[parseKind(name)];
    if (!needle || !stillRuns(record, needle)) continue;
    await stopPid(record.pid, [
      ['SIGTERM', 2_000],
      ['SIGKILL', 1_000],
    ]);
    stopped.push(name);
  }
  return stopped;
}
