import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { until } from '../support/worker.js';

/** The way from a runner to the service, which can be cut. */
export interface Line {
  url: string;
  /** Requests that do not arrive, by their path. */
  cut: RegExp;
  /** Answers to requests of this path that are lost after they took effect. */
  lose: { path: RegExp; times: number };
  /** Members that replace those of a claimed job. */
  claimed: Record<string, unknown>;
  close: () => void;
}

const readBody = async (message: IncomingMessage): Promise<Buffer> => Buffer.concat(await message.toArray());

async function pass(line: Line, target: string, asked: IncomingMessage, answer: ServerResponse): Promise<void> {
  const path = asked.url ?? '';
  if (line.cut.test(path)) return void asked.socket.destroy();
  const body = await readBody(asked);
  const forwarded = request(`${target}${path}`, { method: asked.method ?? 'GET', headers: asked.headers });
  answer.once('close', () => forwarded.destroy());
  forwarded.end(body);
  const [reply] = (await once(forwarded, 'response')) as [IncomingMessage];
  const received = await readBody(reply);
  // Not the end of a claim that found no job.
  const isLost = [200, 201].includes(reply.statusCode ?? 0) && line.lose.times > 0 && line.lose.path.test(path);
  if (isLost) line.lose.times -= 1;
  if (isLost || line.cut.test(path)) return void asked.socket.destroy();
  const isClaimed = path.endsWith('/claim') && reply.statusCode === 200;
  const sent = isClaimed ? Buffer.from(JSON.stringify({ ...JSON.parse(received.toString()), ...line.claimed })) : received;
  answer.writeHead(reply.statusCode ?? 502, { 'content-type': reply.headers['content-type'], 'content-length': sent.length });
  answer.end(sent);
}

export const NOTHING = /^$/;

/** Opens a line to the service at this address. */
export async function openLine(target: string): Promise<Line> {
  const line: Line = { url: '', cut: NOTHING, lose: { path: NOTHING, times: 0 }, claimed: {}, close: () => {} };
  const server: Server = createServer((asked, answer) => {
    pass(line, target, asked, answer).catch(() => asked.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  line.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  line.close = () => {
    server.closeAllConnections();
    server.close();
  };
  return line;
}

/** A folder for one runner and the processes of its daemon, as `npm run runner` starts it. */
export class RunnerProcess {
  readonly dir = mkdtempSync(join(tmpdir(), 'assent-runner-'));
  /** Everything that the daemon printed. */
  printed = '';
  #child: ChildProcess | undefined;

  /** Runs a command of the program to its end. Returns its exit status. */
  async run(args: string[], env: Record<string, string> = {}): Promise<number> {
    const child = this.#spawn(args, env);
    const [code] = (await once(child, 'close')) as [number];
    return code;
  }

  /** Starts the daemon and waits until it asks for jobs. */
  async start(env: Record<string, string> = {}): Promise<void> {
    this.printed = '';
    this.#child = this.#spawn(['run', '--grace', '1'], env);
    await until(async () => this.printed.includes('waits for jobs'));
  }

  get pid(): number {
    return this.#child?.pid as number;
  }

  /** Waits for the end of the daemon. Returns its exit status, or the signal that ended it. */
  async ended(): Promise<number | string> {
    const child = this.#child as ChildProcess;
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return child.exitCode ?? (child.signalCode as string);
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name);
  }

  async remove(): Promise<void> {
    if (this.#child && this.#child.exitCode === null && this.#child.signalCode === null) {
      this.signal('SIGKILL');
      await this.ended();
    }
    rmSync(this.dir, { recursive: true, force: true });
  }

  #spawn(args: string[], env: Record<string, string>): ChildProcess {
    const file = resolve(import.meta.dirname, '../../dist/clients/typescript/runner/main.js');
    const child = spawn(process.execPath, [file, ...args], {
      env: { PATH: process.env['PATH'] ?? '', HOME: this.dir, ASSENT_RUNNER_DIR: this.dir, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: Buffer) => (this.printed += text.toString()));
    return child;
  }
}

/** Whether a process still runs. One that has ended may wait for its parent to read the exit code. */
export function isRunning(pid: number): boolean {
  if (existsSync('/proc/self/stat')) {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
      return text.slice(text.lastIndexOf(')') + 2, text.lastIndexOf(')') + 3) !== 'Z';
    } catch {
      return false;
    }
  }
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
