/** Small tools around operating-system processes: start one with a log file, recognise one by its command line, stop one. */
import { execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const LOG_KEEP_BYTES = 8 * 1024 * 1024;
const hasProc = existsSync('/proc/self/stat');
const live = new Set();
let closing = false;

/**
 * Remembers a child until it ends, so that a start that is broken off can end what is under way.
 * @template {import('node:child_process').ChildProcess} T
 * @param {T} child
 * @returns {T}
 */
export function track(child) {
  live.add(child);
  child.once('exit', () => live.delete(child));
  child.once('error', () => live.delete(child));
  return child;
}

/**
 * Ends every child that still runs, an interrupt first, SIGKILL after `graceMs`, and lets no new one begin: a start that is broken off
 * may be just about to go on to its next process.
 */
export async function endChildren(graceMs) {
  closing = true;
  await Promise.all(
    [...live].map((child) =>
      stopPid(child.pid, [
        ['SIGINT', graceMs],
        ['SIGKILL', 500],
      ]),
    ),
  );
}

/**
 * True while the process runs. A zombie counts as gone: in a container without an init nobody reaps orphans.
 * @param {number} pid
 */
export function alive(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
  return procStat(pid)?.state !== 'Z';
}

/** State letter and start time (clock ticks since boot) of a process, null where there is no /proc. */
function procStat(pid) {
  if (!hasProc) return null;
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0], startTime: fields[19] };
  } catch {
    return null;
  }
}

/**
 * A mark that tells a process from a later one with the same pid; '' where the system cannot say.
 * @param {number} pid
 */
export const startMark = (pid) => procStat(pid)?.startTime ?? '';

/**
 * The command line of a process, arguments joined by blanks; null when it does not run or cannot be read.
 * @param {number} pid
 */
function commandLine(pid) {
  if (!alive(pid)) return null;
  try {
    if (hasProc) return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return null;
  }
}

/**
 * True when the process runs and its command line holds every one of the given strings.
 * @param {number} pid
 * @param {string[]} needles
 */
export function looksLike(pid, needles) {
  const line = commandLine(pid);
  return line !== null && needles.every((needle) => line.includes(needle));
}

/**
 * Pids whose working directory is `dir` (PostgreSQL's backends sit in their data directory). Empty where there is no /proc.
 * @param {string} dir
 * @returns {number[]}
 */
export function processesIn(dir) {
  if (!hasProc) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === dir && alive(pid);
      } catch {
        return false;
      }
    });
}

/** Sends a signal; a process that is already gone is fine. */
export function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/**
 * Stops a process that may not be our child: each signal in turn, waiting its time, until the process is gone.
 * @param {number} pid
 * @param {[NodeJS.Signals, number][]} steps signal and milliseconds to wait after it
 * @returns {Promise<boolean>} false when it outlived every step
 */
export async function stopPid(pid, steps) {
  for (const [name, waitMs] of steps) {
    signal(pid, name);
    const deadline = Date.now() + waitMs;
    while (Date.now() < deadline) {
      if (!alive(pid)) return true;
      await sleep(15);
    }
  }
  return !alive(pid);
}

/**
 * Starts a process in a session of its own (the terminal's Ctrl-C must not reach it: the supervisor stops children in order), with
 * output appended to a log file. The log is opened by us, so it works for a process that runs as another user.
 * @param {string} file
 * @param {string[]} args
 * @param {{log: string, env: Record<string, string | undefined>, cwd: string, uid?: number, gid?: number, ipc?: boolean}} options
 */
export function spawnLogged(file, args, { log, env, cwd, uid, gid, ipc = false }) {
  if (closing) throw new Error('stopping');
  mkdirSync(dirname(log), { recursive: true, mode: 0o700 });
  rotate(log);
  const fd = openSync(log, 'a', 0o600);
  try {
    const stdio = ['ignore', fd, fd, ...(ipc ? ['ipc'] : [])];
    const as = uid === undefined ? {} : { uid, gid };
    const child = track(spawn(file, args, { cwd, env, detached: true, windowsHide: true, stdio, ...as }));
    child.exited = new Promise((resolve) => {
      child.once('error', (error) => resolve({ code: null, signal: null, error }));
      child.once('exit', (code, sig) => resolve({ code, signal: sig, error: null }));
    });
    return child;
  } finally {
    closeSync(fd);
  }
}

/** Keeps one older log file, so that a log cannot grow for ever. */
function rotate(log) {
  try {
    if (statSync(log).size > LOG_KEEP_BYTES) renameSync(log, `${log}.1`);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
}

/** Size of a log now, to read later only what one process wrote. */
export function logSize(path) {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}

/**
 * Last lines of a log, from byte `from` on.
 * @param {string} path
 * @param {number} [count]
 * @param {number} [from]
 * @returns {string[]}
 */
export function tail(path, count = 12, from = 0) {
  try {
    const bytes = readFileSync(path);
    return bytes
      .subarray(from > bytes.length ? 0 : from)
      .toString('utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .slice(-count);
  } catch {
    return [];
  }
}

/** How a process ended, in words: `exit code 1`, `killed by SIGKILL`. */
export function howItEnded({ code, signal: name, error }) {
  if (error) return error.message;
  return name ? `killed by ${name}` : `exit code ${code}`;
}
