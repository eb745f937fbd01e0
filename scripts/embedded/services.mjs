/** Starts API and worker, and restarts processes that exit, with a report of their last log lines. */
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from './errors.mjs';
import { howItEnded, logSize, spawnLogged, startMark, stopPid, tail } from './processes.mjs';
import { root } from './settings.mjs';

const READY_MS = 60_000;
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
const LEVELS = { 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' };
/** A process that ran this long resets its backoff. */
const STEADY_MS = 60_000;

/**
 * @typedef {object} Handle a running process
 * @property {number} pid
 * @property {Promise<{code: number | null, signal: string | null, error: Error | null}>} exited
 * @property {(graceMs: number) => Promise<void>} stop
 */

/**
 * Starts a Node process of ours and waits for its `{type: 'ready'}` message.
 * @param {{label: string, file: string, log: string, env: Record<string, string | undefined>, spawned: (pid: number) => void}} options
 *   `file`: below the checkout; `spawned` is told the pid before the process is ready
 * @returns {Promise<Handle>}
 * @throws {StartError} when it ends or stays silent
 */
export async function startService({ label, file, log, env, spawned }) {
  const from = logSize(log);
  // The threads of Node and of Temporal's library would each keep freed memory of their own.
  const lean = { MALLOC_ARENA_MAX: '2', ...env };
  const child = spawnLogged(process.execPath, ['--enable-source-maps', join(root, file)], {
    log,
    env: lean,
    cwd: root,
    ipc: true,
  });
  if (child.pid) spawned(child.pid);
  const ready = new Promise((resolve) => {
    child.on('message', (message) => {
      if (message?.type === 'ready') resolve('ready');
    });
  });
  const timer = new AbortController();
  const timeout = sleep(READY_MS, 'timeout', { signal: timer.signal }).catch(() => 'timeout');
  const outcome = await Promise.race([ready, child.exited, timeout]);
  timer.abort();
  if (outcome === 'ready') {
    return {
      pid: child.pid,
      exited: child.exited,
      stop: (graceMs) =>
        stopPid(child.pid, [
          ['SIGTERM', graceMs],
          ['SIGKILL', 500],
        ]),
    };
  }
  if (child.pid) await stopPid(child.pid, [['SIGKILL', 500]]);
  const how = outcome === 'timeout' ? `not ready after ${READY_MS / 1000} s` : howItEnded(outcome);
  throw new StartError(`${label} did not start (${how}).`, `Its whole log: ${log}`, readable(tail(log, 20, from)));
}

/** Makes a JSON log line readable: level, message and error. Other lines stay as they are. */
function readable(lines) {
  return lines.map((line) => {
    try {
      const { level, msg, err } = JSON.parse(line);
      if (msg === undefined && err === undefined) return line;
      return [LEVELS[level] ?? level, msg, err?.message, err?.stack?.split('\n')[1]?.trim()].filter(Boolean).join(' ');
    } catch {
      return line;
    }
  });
}

/** Status of GET http://127.0.0.1:port/path; 0 without a response. */
function getStatus(port, path) {
  return new Promise((resolve) => {
    const sent = request({ host: '127.0.0.1', port, path, timeout: 2_000, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.once('timeout', () => sent.destroy());
    sent.once('error', () => resolve(0));
    sent.end();
  });
}

/**
 * Waits until the API says that it is ready.
 * @param {number} port its ops port
 */
export async function waitReady(port) {
  const deadline = Date.now() + READY_MS;
  while ((await getStatus(port, '/readyz')) !== 200) {
    if (Date.now() > deadline) {
      throw new StartError('The API runs but does not get ready.', `It says why: curl localhost:${port}/readyz`);
    }
    await sleep(25);
  }
}

/**
 * Keeps one process running.
 * @param {{name: string, label: string, log: string, start: (spawned: (pid: number) => void) => Promise<Handle>, say: (line: string) => void, changed: () => void}} options
 *   `changed` is called whenever the process is another one
 */
export function createUnit({ name, label, log, start, say, changed }) {
  let handle = null;
  let known = null;
  let stopping = false;
  let delay = FIRST_DELAY_MS;

  const spawned = (pid) => {
    known = { pid, mark: startMark(pid) };
    changed();
  };
  const adopt = (started) => {
    handle = started;
    const since = Date.now();
    spawned(started.pid);
    void handle.exited.then((how) => {
      if (handle !== started || stopping) return undefined;
      if (Date.now() - since > STEADY_MS) delay = FIRST_DELAY_MS;
      return revive(`${label} stopped (${howItEnded(how)})`, tail(log, 8));
    });
  };
  const revive = async (what, lines) => {
    say(`${what}. Starting it again.`);
    for (const line of readable(lines)) say(`   │ ${line}`);
    handle = null;
    while (!stopping) {
      await sleep(delay);
      delay = Math.min(delay * 2, MAX_DELAY_MS);
      if (stopping) return;
      try {
        adopt(await start(spawned));
        say(`${label} runs again.`);
        return;
      } catch (error) {
        say(`${label} does not start: ${error.message} Next try in ${delay / 1000} s.`);
      }
    }
  };
  return {
    name,
    /** Starts it for the first time; a failure is the caller's. */
    async start() {
      adopt(await start(spawned));
    },
    /** The latest process for run.json, null before the first. */
    record: () => known,
    /** From now on its exit is expected: not reported, and not restarted. */
    expectEnd() {
      stopping = true;
    },
    async stop(graceMs) {
      stopping = true;
      await handle?.stop(graceMs);
    },
    /** Stops and starts it, for changed sources. */
    async restart(graceMs) {
      const old = handle;
      handle = null;
      await old?.stop(graceMs);
      if (!stopping) adopt(await start(spawned));
    },
  };
}
