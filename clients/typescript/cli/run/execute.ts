import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { constants } from 'node:os';
import { describeErrno, Failure, Interrupted, SIGNAL_BASE } from '../exit.js';
import type { Look } from './bind.js';

/** How a command ended: by itself, or by a signal. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  durationMs: number;
}

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** A Ctrl-\ at the terminal is for the command. */
const IGNORED = ['SIGQUIT'] as const;
/** The most time that withdrawing may take once a signal came. */
const WITHDRAW_MS = 2_000;
const PROGRAM_FD = 3;
const OPEN_PROGRAM = `/proc/self/fd/${PROGRAM_FD}`;

export const signalNumber = (signal: NodeJS.Signals): number => constants.signals[signal];

/** Ends this process by a signal, so that its parent sees what happened. One that cannot end it becomes its exit status. */
export function raise(signal: NodeJS.Signals): never {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // Another thread may take it, a moment later.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  process.exit(SIGNAL_BASE + signalNumber(signal));
}

/** Whether Ctrl-C reaches the command without us: then it must not reach it twice. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

/** What signals mean to us: before the command runs they end us, and while it runs they are its own. */
export class Signals {
  readonly #controller = new AbortController();
  readonly #isOurs = hasTerminal();
  #child: ChildProcess | undefined;

  constructor() {
    for (const name of ENDING) process.on(name, () => this.#receive(name));
    for (const name of IGNORED) process.on(name, () => (this.#child ? undefined : this.#receive(name)));
  }

  /** Aborts with {Interrupted} when a signal ends us. */
  get aborted(): AbortSignal {
    return this.#controller.signal;
  }

  set child(child: ChildProcess | undefined) {
    this.#child = child;
  }

  #receive(name: NodeJS.Signals): void {
    if (this.#child) {
      if (name !== 'SIGINT' || !this.#isOurs) this.#child.kill(name);
      return;
    }
    if (this.aborted.aborted) raise(name);
    this.#controller.abort(new Interrupted(name));
    setTimeout(() => raise(name), WITHDRAW_MS).unref();
  }
}

function explainStart(error: NodeJS.ErrnoException, name: string): Failure {
  const why = error.code === 'E2BIG' ? 'its arguments and variables are too long' : describeErrno(error.code ?? error.message);
  return new Failure('cannotRun', `${name} cannot be started: ${why}`);
}

/**
 * Starts the program that was hashed and waits for its end. It has our terminal, or the bytes that were bound as its standard input.
 * @throws {Failure} it cannot be started
 */
export function execute({ program, arguments: bound, env }: Look, stdin: Buffer | undefined, signals: Signals): Promise<Ended> {
  const [name = '', ...args] = bound.argv;
  const isOpen = program.isBinary;
  const input = stdin ? 'pipe' : bound.stdin === 'terminal' ? 'inherit' : 'ignore';
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(isOpen ? OPEN_PROGRAM : program.file.given, args, {
      argv0: name,
      env,
      stdio: [input, 'inherit', 'inherit', ...(isOpen ? [program.handle.fd] : [])],
    });
    signals.child = child;
    child.once('error', (error) => reject(explainStart(error, name)));
    child.once('exit', (code, signal) => resolve({ code, signal, durationMs: Math.round(performance.now() - started) }));
    // A command that does not read all of its input closes it.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(stdin);
  });
}
