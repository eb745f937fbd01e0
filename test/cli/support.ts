import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { until } from '../support/worker.js';

const PROGRAM = resolve(import.meta.dirname, '../../dist/clients/typescript/cli/main.js');

export interface End {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** One call of the program: what it printed so far, and how it ended. */
export class Call {
  stdout = '';
  stderr = '';
  readonly ended: Promise<End>;

  constructor(readonly child: ChildProcess) {
    child.stdout?.on('data', (text: Buffer) => (this.stdout += text.toString()));
    child.stderr?.on('data', (text: Buffer) => (this.stderr += text.toString()));
    this.ended = once(child, 'close').then(([code, signal]) => ({ code, signal }) as End);
  }

  /** Waits for a text on stderr, and on a terminal for one of both. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    return until(async () => pattern.exec(this.stderr + this.stdout));
  }

  /** Waits until the request is asked for. Returns its id. */
  async asked(): Promise<string> {
    return (await this.printed(/asked \S*\/([0-9a-f-]{36})/))[1] as string;
  }
}

/** A folder with programs and files, and the settings of one user. */
export class Workplace {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'assent-cli-')));
  readonly dir = join(this.root, 'work');
  readonly config = join(this.root, 'config');
  env: Record<string, string> = {};
  readonly #calls: Call[] = [];

  constructor() {
    mkdirSync(this.dir);
  }

  path = (name: string): string => join(this.dir, name);
  write = (name: string, content: string): void => writeFileSync(this.path(name), content);
  read = (name: string): string => readFileSync(this.path(name), 'utf8');
  exists = (name: string): boolean => existsSync(this.path(name));
  script(name: string, content: string): void {
    this.write(name, `#!/bin/sh\n${content}\n`);
    chmodSync(this.path(name), 0o755);
  }

  /** Files with outcomes that wait to be sent. */
  get outcomes(): string[] {
    const folder = join(this.config, 'outcomes');
    return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  }

  /** Starts `assent` with these arguments. @param input for its standard input; nothing without one */
  start(args: string[], { input, env = {} }: { input?: string; env?: Record<string, string> } = {}): Call {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      cwd: this.dir,
      detached: true,
      env: { ...this.#env(), ...env },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
    return this.#note(new Call(child));
  }

  /** Starts `assent` with a pseudo-terminal as all three. What is written to the child is typed. */
  startOnTerminal(args: string[]): Call {
    const command = [process.execPath, PROGRAM, ...args].map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
    const child = spawn('script', ['--quiet', '--return', '--command', `exec ${command}`, '/dev/null'], {
      cwd: this.dir,
      detached: true,
      env: { ...this.#env(), TERM: 'xterm', SHELL: '/bin/sh' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    return this.#note(new Call(child));
  }

  /** Runs a command of the program to its end. */
  async run(args: string[], options: { input?: string; env?: Record<string, string> } = {}): Promise<Call & End> {
    const call = this.start(args, options);
    return Object.assign(call, await call.ended);
  }

  async remove(): Promise<void> {
    for (const { child } of this.#calls) {
      try {
        // A group of its own: a command may live on without assent.
        process.kill(-(child.pid as number), 'SIGKILL');
      } catch {
        // All of it has ended.
      }
    }
    await Promise.all(this.#calls.map(({ ended }) => ended));
    rmSync(this.root, { recursive: true, force: true });
  }

  #env(): Record<string, string> {
    return { PATH: process.env['PATH'] ?? '', HOME: this.root, ASSENT_CONFIG_DIR: this.config, LANG: 'C.UTF-8', ...this.env };
  }

  #note(call: Call): Call {
    this.#calls.push(call);
    return call;
  }
}
