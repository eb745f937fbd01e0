import type { Readable } from 'node:stream';
import { Refused, ServerAway } from './api.js';
import { Backoff } from './backoff.js';

/** Bytes of UTF-8 in one chunk, as the service takes them. */
const MAX_CHUNK_BYTES = 65_536;
/** Text that waits to be sent. Above it the command waits when it writes. */
const MAX_PENDING_BYTES = 1_048_576;
/** The end of the output is what the report may hold, and as much again, so that a secret at the cut is masked whole. */
const MAX_OUTPUT_BYTES = 65_536;
const TAIL_BYTES = 2 * MAX_OUTPUT_BYTES;
/** Lines that come close together travel together. */
const COLLECT_MS = 250;
const FIRST_RETRY_MS = 500;
/** Answers that say that the job is no longer this runner's. */
const JOB_IS_OVER = [401, 403, 404, 409];

type Send = (chunk: string, offset: number) => Promise<{ next_offset: number; truncated: boolean }>;

/** Returns the most bytes, up to `max`, that end between two characters. */
function cut(bytes: Buffer, max: number): Buffer {
  if (bytes.length <= max) return bytes;
  let end = max;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
}

/** Returns the last bytes, at most `max`, that begin with a whole character. */
function cutStart(bytes: Buffer, max: number): Buffer {
  let start = Math.max(0, bytes.length - max);
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return bytes.subarray(start);
}

/** Replaces values of secrets, the longest first, as the service does. */
function maskSecrets(text: string, secrets: readonly string[]): string {
  const longestFirst = secrets.filter((secret) => secret !== '').toSorted((a, b) => b.length - a.length);
  return longestFirst.reduce((masked, secret) => masked.replaceAll(secret, '***'), text);
}

/** Returns the end of a text, at most 64 kB of UTF-8, without a part of a secret. */
export function lastOutput(bytes: Buffer, secrets: readonly string[]): string {
  const text = cutStart(bytes, TAIL_BYTES).toString('utf8');
  return cutStart(Buffer.from(maskSecrets(text, secrets)), MAX_OUTPUT_BYTES).toString('utf8');
}

/**
 * The output of a command on its way to the service: valid UTF-8 without NUL, in chunks with their offset. It holds a megabyte at most, however
 * much the command writes and however long the service is away.
 */
export class JobLog {
  #pending = Buffer.alloc(0);
  /** Offset of the first pending byte. */
  #offset = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #isClosed = false;
  /** The service takes no more of the log: what follows is read and dropped. */
  #isEnded = false;
  #wake = () => {};
  #stopCollecting = () => {};
  #source: Readable | undefined;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  constructor(private readonly transmit: Send) {}

  /** Reads the output of a command. It waits while too much is pending. */
  attach(source: Readable): void {
    this.#source = source;
    source.on('data', (bytes: Buffer) => {
      this.#add(this.#decoder.decode(bytes, { stream: true }));
      if (this.#pending.length > MAX_PENDING_BYTES) source.pause();
    });
  }

  /** Adds a line of the daemon's own. */
  note(line: string): void {
    const text = this.#decoder.decode();
    this.#add(`${text}${text === '' || text.endsWith('\n') ? '' : '\n'}[assent-runner] ${line}\n`);
  }

  /** Nothing more will come. */
  close(): void {
    this.#add(this.#decoder.decode());
    this.#isClosed = true;
    this.#wake();
    this.#stopCollecting();
  }

  /** The end of all output, at most 64 kB, with `***` instead of secrets. */
  output(secrets: readonly string[]): string {
    return lastOutput(Buffer.concat(this.#tail), secrets);
  }

  /**
   * Sends until the log is closed and all of it has arrived, or the service wants no more.
   * @throws {Refused} the job is no longer this runner's | the signal's reason
   */
  async send(signal: AbortSignal): Promise<void> {
    const backoff = new Backoff(FIRST_RETRY_MS);
    while (!this.#isEnded) {
      if (this.#pending.length === 0 && this.#isClosed) return;
      if (this.#pending.length === 0) await this.#changed(signal);
      if (this.#pending.length < MAX_CHUNK_BYTES) await this.#collect();
      signal.throwIfAborted();
      if (this.#pending.length === 0) continue;
      try {
        await this.#sendChunk();
        backoff.reset();
      } catch (error) {
        if (!(error instanceof ServerAway)) throw error;
        await backoff.wait(error, signal);
      }
    }
  }

  async #sendChunk(): Promise<void> {
    const chunk = cut(this.#pending, MAX_CHUNK_BYTES);
    try {
      const { next_offset, truncated } = await this.transmit(chunk.toString('utf8'), this.#offset);
      if (truncated) this.#end();
      else this.#goOnAt(next_offset);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const expected = error.envelope['expected_offset'];
      if (error.status === 409 && typeof expected === 'number' && expected !== this.#offset) this.#goOnAt(expected);
      else if (JOB_IS_OVER.includes(error.status)) throw error;
      // The log is full, or a part of it is refused: the command goes on without.
      else this.#end();
    }
  }

  /** An answer that was lost had its effect: the offset of the service counts. Text that neither side has anymore is a gap. */
  #goOnAt(offset: number): void {
    const arrived = offset - this.#offset;
    if (arrived > 0) this.#pending = this.#pending.subarray(Math.min(arrived, this.#pending.length));
    this.#offset = offset;
    if (this.#pending.length <= MAX_PENDING_BYTES / 2) this.#source?.resume();
  }

  #end(): void {
    this.#isEnded = true;
    this.#pending = Buffer.alloc(0);
    this.#source?.resume();
  }

  #add(decoded: string): void {
    if (decoded === '') return;
    // PostgreSQL keeps no NUL in a text.
    const bytes = Buffer.from(decoded.replaceAll('\0', '\uFFFD'));
    this.#tail.push(bytes);
    this.#tailBytes += bytes.length;
    while (this.#tailBytes - (this.#tail[0]?.length ?? 0) >= TAIL_BYTES) this.#tailBytes -= this.#tail.shift()?.length ?? 0;
    if (this.#isEnded) return;
    this.#pending = Buffer.concat([this.#pending, bytes]);
    this.#wake();
  }

  #collect(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, COLLECT_MS);
      this.#stopCollecting = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = () => reject(signal.reason as Error);
      this.#wake = () => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
      if (signal.aborted) abort();
      else if (this.#isClosed) this.#wake();
      else signal.addEventListener('abort', abort, { once: true });
    });
  }
}
