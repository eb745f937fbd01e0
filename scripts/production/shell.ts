import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ShellOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  input?: string;
  /** Prints the output as it comes. */
  shows?: boolean;
}

/** Runs a program and returns its standard output. @throws Error with the end of its output unless it exits with 0 */
export async function shell(command: readonly string[], options: ShellOptions = {}): Promise<string> {
  const { cwd, env = process.env, input, shows = false } = options;
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd, env, stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'] });
  let [printed, errors] = ['', ''];
  child.stdout?.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
    if (shows) process.stdout.write(chunk);
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    errors = `${errors}${chunk.toString()}`.slice(-4_000);
    if (shows) process.stderr.write(chunk);
  });
  child.stdin?.end(input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0)
    throw new Error(`${command.join(' ')} ended with ${code}: ${`${printed.slice(-1_000)}${errors}`.trim().slice(-1_500)}`);
  return printed;
}

/** Waits until `look` returns something. Returns it, and the seconds that it took. @throws Error after `seconds` */
export async function until<T>(what: string, seconds: number, look: () => Promise<T | undefined | false>): Promise<[T, number]> {
  const since = Date.now();
  for (;;) {
    const found = await look().catch(() => undefined);
    const passed = (Date.now() - since) / 1_000;
    if (found) return [found, passed];
    if (passed > seconds) throw new Error(`${what}: not within ${seconds} s`);
    await sleep(250);
  }
}
