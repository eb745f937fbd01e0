import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process that is told apart from a later one with the same number. */
export interface ProcessId {
  pid: number;
  /** When it began, as the system says it; empty if the system did not say. */
  started: string;
}

/** Each process of a job has this variable, so those that left the process group are found. */
export const JOB_VARIABLE = 'ASSENT_JOB_ID';
const POLL_MS = 50;

/** Fields of /proc/PID/stat after the name, which may itself have spaces and parentheses. */
function readStat(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** Returns when a process began, or undefined if there is none. Ticks count from the boot, so its id belongs to them. */
function readStart(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readStat(pid)[19]}`;
    }
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return undefined;
  }
}

export const identify = (pid: number): ProcessId => ({ pid, started: readStart(pid) ?? '' });
export const ownProcess = (): ProcessId => identify(process.pid);
export const isRunning = ({ pid, started }: ProcessId): boolean => started !== '' && readStart(pid) === started;

/** Sends a signal to a process group. Returns whether it has a member. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    // EPERM: there is one that we may not signal.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether a member of the group still runs. One that has ended may wait long for a parent that reads its exit code. */
function isGroupRunning(group: number): boolean {
  if (!signalGroup(group, 0)) return false;
  return (
    process.platform !== 'linux' ||
    readStats(allProcesses()).some(([state, , member]) => Number(member) === group && state !== 'Z')
  );
}

const allProcesses = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

const readStats = (pids: number[]): string[][] =>
  pids.flatMap((pid) => {
    try {
      return [readStat(pid)];
    } catch {
      return [];
    }
  });

/** Processes that carry the variable of this job, wherever they moved. Only Linux shows them. */
function markedProcesses(jobId: string): number[] {
  if (process.platform !== 'linux') return [];
  const mark = `${JOB_VARIABLE}=${jobId}`;
  return allProcesses().filter((pid) => {
    try {
      return pid !== process.pid && readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark);
    } catch {
      return false;
    }
  });
}

/** Most looks for marked processes: a command that starts new ones without end gets no further. */
const LOOKS = 20;

/** Kills what carries the variable of this job, until a look finds none: a process may start another one while it is looked for. */
async function killMarked(jobId: string): Promise<void> {
  for (let look = 0; look < LOOKS; look += 1) {
    const pids = markedProcesses(jobId);
    if (pids.length === 0) return;
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    }
    if (look > 0) await sleep(POLL_MS);
  }
}

/**
 * Ends a process group and what left it: SIGTERM, then SIGKILL after the grace period. Returns when none is left, or a second after
 * SIGKILL: a process in the kernel's hands may take longer.
 */
export async function endGroup(group: number, jobId: string, graceMs: number): Promise<void> {
  if (signalGroup(group, 'SIGTERM')) {
    for (let waited = 0; waited < graceMs && isGroupRunning(group); waited += POLL_MS) await sleep(POLL_MS);
  }
  const remains = signalGroup(group, 'SIGKILL');
  await killMarked(jobId);
  for (let waited = 0; remains && waited < 1_000 && isGroupRunning(group); waited += POLL_MS) await sleep(POLL_MS);
}

/** Ends what an earlier daemon left behind. The group of another job that got the same number is not touched. */
export async function endLeftover(leader: ProcessId, jobId: string, graceMs: number): Promise<void> {
  const isOurs = isRunning(leader) || readStats(markedProcesses(jobId)).some(([, , group]) => Number(group) === leader.pid);
  if (isOurs) await endGroup(leader.pid, jobId, graceMs);
  else await killMarked(jobId);
}
