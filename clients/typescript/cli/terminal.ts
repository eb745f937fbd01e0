import { createReadStream, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { Failure, Interrupted } from './exit.js';

/** What the user sees. Commands print results to stdout; everything else goes to stderr, because stdout may belong to a command. */

export const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
export const isTerminal = (fd: number): boolean => isatty(fd);
export const hasKeyboard = (): boolean => isatty(STDIN) && isatty(STDERR);

/** Writes all of a text at once: nothing of it is left when the process ends, and a stream whose reader is gone changes nothing. */
function write(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}
export const print = (text: string): void => write(STDOUT, `${text}\n`);

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u115F\u1160\u2800\u3164\uFFA0]/gu;
/** Shows characters that move the cursor, or that nobody sees, by their numbers: texts of others must not draw on this terminal. */
export const printable = (text: string): string =>
  text.replace(HIDDEN, (char) => `U+${(char.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}`);
/** The same for a text of several lines. */
export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const;

/** Formats ms as a clock: 0:42, 23:59:18. */
export function formatClock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const two = (part: number) => String(part).padStart(2, '0');
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** Formats ms in its largest unit: 42 s, 3 h. */
export function formatSpan(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1_000);
  const [name, size] = UNITS.find(([, each]) => seconds >= each) ?? (['s', 1] as const);
  return `${Math.floor(seconds / size)} ${name === 'm' ? 'min' : name}`;
}

/** Formats bytes: 512 B, 18 kB, 4.2 MB. */
export function formatSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const inKb = bytes / 1_000;
  return inKb < 1_000 ? `${Math.round(inKb)} kB` : `${(inKb / 1_000).toFixed(1)} MB`;
}

const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const FRAME_MS = 100;
const CLEAR_LINE = '\r\x1b[K';
/** Without a terminal one line in this time says that we still wait. */
const REPEAT_MS = 300_000;

export interface Screen {
  /** A line of progress, or with `--json` the event. */
  say: (line: string, event: { event: string; [member: string]: unknown }) => void;
  /** Shows that something is waited for, until the function returned is called. `text` is asked for each time. */
  wait: (text: () => string, event: () => { event: string; [member: string]: unknown }) => () => void;
  isJson: boolean;
}

/** Creates the output of a command on stderr: with a terminal lines and a spinner, otherwise lines, with `--json` one object a line. */
export function createScreen(isJson: boolean): Screen {
  const isLive = !isJson && isatty(STDERR) && process.env['TERM'] !== 'dumb';
  let isDrawn = false;
  const clear = () => {
    if (isDrawn) write(STDERR, CLEAR_LINE);
    isDrawn = false;
  };
  const say: Screen['say'] = (line, event) => {
    clear();
    write(STDERR, isJson ? `${JSON.stringify({ at: new Date().toISOString(), ...event })}\n` : `assent: ${line}\n`);
  };
  const wait: Screen['wait'] = (text, event) => {
    let frame = 0;
    const draw = () => {
      const line = `${FRAMES[frame++ % FRAMES.length]} ${text()}`;
      write(STDERR, `${CLEAR_LINE}${line.slice(0, (process.stderr.columns || 80) - 1)}`);
      isDrawn = true;
    };
    if (isLive) draw();
    else say(text(), event());
    const timer = setInterval(isLive ? draw : () => say(text(), event()), isLive ? FRAME_MS : REPEAT_MS);
    return () => {
      clearInterval(timer);
      clear();
    };
  };
  return { say, wait, isJson };
}

/** Prints an error as `assent: message`, and what to do below it. */
export function printError(message: string, hints: readonly string[] = []): void {
  write(STDERR, `assent: ${printableLines(message)}\n${hints.map((hint) => `  ${printable(hint)}\n`).join('')}`);
}
export const printNote = (text: string): void => write(STDERR, text);

const nowhere = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });

/**
 * Asks for a line on the terminal.
 * @param isSecret the line is not shown
 * @throws {Interrupted} on Ctrl-C, and when the input ends
 */
export async function ask(question: string, isSecret = false): Promise<string> {
  // First the terminal stops showing what is typed, then it is asked for.
  const input = createInterface({ input: process.stdin, output: isSecret ? nowhere() : process.stderr, terminal: true });
  if (isSecret) write(STDERR, question);
  try {
    return await new Promise((resolve, reject) => {
      input.once('line', resolve);
      input.once('close', () => reject(new Interrupted('SIGINT')));
      input.setPrompt(isSecret ? '' : question);
      input.prompt();
    });
  } finally {
    input.close();
    if (isSecret) write(STDERR, '\n');
  }
}

/** Asks a question to which `y` or `yes` agrees. */
export const confirm = async (question: string): Promise<boolean> => /^y(es)?$/i.test((await ask(`${question} [y/N] `)).trim());

const MAX_STDIN_BYTES = 268_435_456;

/** Reads standard input to its end. @throws {Failure} it has more than 256 MB */
export async function readStdin(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of createReadStream('', { fd: STDIN, autoClose: false }) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_STDIN_BYTES) throw new Failure('usage', 'standard input has more than 256 MB');
  }
  return Buffer.concat(chunks);
}
