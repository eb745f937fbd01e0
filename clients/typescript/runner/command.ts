import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { closeSync, constants, fstatSync, mkdirSync, openSync, readSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { constants as system } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { endGroup, identify, JOB_VARIABLE, type ProcessId } from './processes.js';
import { lastOutput } from './job-log.js';

/** The shell waits until the daemon has its process on record, and ends if the daemon does. Then it becomes the shell of the command. */
const GATE = 'IFS= read -r line <&3 || exit 125; exec /bin/sh -c "$1" 3<&-';
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';
const OUTPUT_TAIL_BYTES = 131_072;
/** Time for the rest of the output, after the last process of the job has ended. */
const DRAIN_MS = 2_000;
const DRAIN_POLL_MS = 20;
const SIGNAL_BASE = 128;

/** The folders of a job: an empty one in which the command runs, one for its temporary files, and where it may write its output. */
export interface JobFolder {
  root: string;
  home: string;
  temporary: string;
  output: string;
}

export const getFolder = (workDir: string, jobId: string): string => join(workDir, jobId);

export function createFolder(workDir: string, jobId: string): JobFolder {
  const root = getFolder(workDir, jobId);
  const folder = { root, home: join(root, 'home'), temporary: join(root, 'tmp'), output: join(root, 'output') };
  rmSync(root, { recursive: true, force: true });
  for (const path of [root, folder.home, folder.temporary]) mkdirSync(path, { recursive: true, mode: 0o700 });
  return folder;
}

const execute = promisify(execFile);

/**
 * Removes a folder, even if the command took permissions from folders inside, or nested them deeper than a path can name: for those, the
 * programs of the system walk from folder to folder. Neither follows links.
 */
export async function removeFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    await execute('chmod', ['-R', 'u+rwx', path]).catch(() => undefined);
    await execute('rm', ['-rf', path]);
  }
}

/** All variables of the command: nothing of the daemon's but PATH and the language. The job may replace those, not its own marks. */
function commandEnv(jobId: string, folder: JobFolder, env: Record<string, string>): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? DEFAULT_PATH,
    LANG: process.env['LANG'] ?? 'C.UTF-8',
    HOME: folder.home,
    TMPDIR: folder.temporary,
    ...env,
    ASSENT_OUTPUT: folder.output,
    [JOB_VARIABLE]: jobId,
  };
}

/**
 * Opens a pipe for output and errors, so that their order is kept. Pipes of Node are sockets, which a command cannot open again as
 * /dev/stderr.
 */
function openPipe(root: string): { source: Socket; target: number } {
  const path = join(root, 'pipe');
  execFileSync('mkfifo', ['-m', '600', path], { stdio: 'ignore' });
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const target = openSync(path, constants.O_WRONLY);
  rmSync(path);
  return { source: new Socket({ fd: reader, readable: true, writable: false }), target };
}

/** A command that has its process and has not begun. */
export class Command {
  readonly process: ProcessId;
  readonly output: Socket;
  /** The exit code, 128 plus the signal's number after a signal, as shells count. */
  readonly exited: Promise<number>;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, output: Socket) {
    this.#child = child;
    this.output = output;
    this.process = identify(child.pid as number);
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        resolve(code ?? SIGNAL_BASE + (signal ? system.signals[signal] : 0));
      });
    });
  }

  /** @throws Error if the shell cannot be started */
  static async prepare(
    { job_id, command, env }: { job_id: string; command: string; env: Record<string, string> },
    folder: JobFolder,
  ): Promise<Command> {
    // Node would refuse it with a message that has the value.
    if ([command, ...Object.values(env)].some((text) => text.includes('\0')))
      throw new Error('The command or a variable holds NUL');
    const { source, target } = openPipe(folder.root);
    try {
      const child = spawn('/bin/sh', ['-c', GATE, 'sh', command], {
        cwd: folder.home,
        env: commandEnv(job_id, folder, env),
        // A session and process group of its own: it can be ended as a whole, and Ctrl-C of the daemon's terminal does not reach it.
        detached: true,
        stdio: ['ignore', target, target, 'pipe'],
      });
      await new Promise<void>((resolve, reject) => {
        child.once('spawn', resolve);
        child.once('error', reject);
      });
      return new Command(child, source);
    } catch (error) {
      source.destroy();
      throw error;
    } finally {
      closeSync(target);
    }
  }

  begin(): void {
    const gate = this.#child.stdio[3] as Writable;
    // The shell may have ended already.
    gate.on('error', () => {});
    gate.end('go\n');
  }

  /** Ends the command and everything that it started: SIGTERM, after the grace period SIGKILL. */
  async end(jobId: string, graceMs: number): Promise<void> {
    await endGroup(this.process.pid, jobId, graceMs);
  }

  /**
   * Waits for the rest of the output after the end of the command. A process that got away may keep the pipe open: it is waited for only
   * while it writes.
   */
  async drained(): Promise<void> {
    const { output } = this;
    let quietMs = 0;
    output.on('data', () => (quietMs = 0));
    while (!output.closed && quietMs < DRAIN_MS) {
      await sleep(DRAIN_POLL_MS);
      // A paused reader waits for the service, not for a process.
      quietMs = output.isPaused() ? 0 : quietMs + DRAIN_POLL_MS;
    }
    output.destroy();
  }
}

/**
 * Reads the end of the file that the command wrote for later actions, at most 64 kB.
 * @returns undefined without a file that has content
 */
export function readOutput(path: string, secrets: readonly string[]): string | undefined {
  let file: number;
  try {
    // The command made it: it may be a link or a pipe.
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile() || stat.size === 0) return undefined;
    const bytes = Buffer.alloc(Math.min(stat.size, OUTPUT_TAIL_BYTES));
    const length = readSync(file, bytes, 0, bytes.length, stat.size - bytes.length);
    return lastOutput(Buffer.from(bytes.subarray(0, length).toString('utf8').replaceAll('\0', '\uFFFD')), secrets);
  } finally {
    closeSync(file);
  }
}
