import { write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

/** Bytes that are worth a write of their own, and the longest that fewer wait, ms. */
const FLUSH_AT_BYTES = 12_288;
const FLUSH_EVERY_MS = 200;
/** Lines beyond this are dropped while the file takes none: a log must not fill the memory either. */
const MAX_BUFFERED_BYTES = 1024 * 1024;
/** A pipe that is full for the moment is tried again after this, ms; at exit at most so often. */
const RETRY_MS = 10;
const MAX_EXIT_RETRIES = 50;

const isBusy = (error: unknown): boolean => ['EAGAIN', 'EBUSY'].includes((error as NodeJS.ErrnoException).code ?? '');
const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

interface Chunk {
  bytes: Buffer;
  lines: number;
}

/**
 * Writes log lines to a file descriptor, many at a time and beside the work. A line that cannot be written, because the disk is full
 * or the reader has gone, is dropped and counted: logging never ends the process and never keeps it from exiting. pino's own
 * destination does both, and copies all that is buffered for each further line.
 */
export class LogStream implements DestinationStream {
  private lines: string[] = [];
  private bytes = 0;
  private writing = false;
  /** The last write ended inside a line: the next one begins a new one. */
  private torn = false;
  /** A chunk that a full pipe did not take: it is written again after a pause, or at exit. */
  private refused: Chunk | undefined;
  private readonly timer: NodeJS.Timeout;
  private readonly flushAtExit = (): void => this.flushSync();

  /** `onDropped` is called with the number of lines whenever some are dropped. */
  constructor(
    private readonly fd: number,
    private readonly onDropped: (lines: number) => void,
  ) {
    this.timer = setInterval(() => this.flush(), FLUSH_EVERY_MS).unref();
    process.on('exit', this.flushAtExit);
  }

  /** Takes one line, which ends with a line feed. Never throws, never waits. */
  write(line: string): void {
    if (this.bytes + line.length > MAX_BUFFERED_BYTES) {
      this.onDropped(1);
      return;
    }
    this.lines.push(line);
    this.bytes += line.length;
    if (this.bytes >= FLUSH_AT_BYTES) this.flush();
  }

  /** Begins to write what is buffered, unless a write is under way; what comes meanwhile follows it. */
  flush(): void {
    if (this.writing || this.lines.length === 0) return;
    this.writing = true;
    this.writeChunk(this.takeChunk());
  }

  /** Writes what is buffered before it returns, for the end of the process. What cannot be written is dropped. */
  flushSync(): void {
    const { refused } = this;
    this.refused = undefined;
    if (refused) this.writeChunkSync(refused);
    if (this.lines.length > 0) this.writeChunkSync(this.takeChunk());
  }

  /** Writes what is left and takes no further part in the process. */
  close(): void {
    clearInterval(this.timer);
    process.off('exit', this.flushAtExit);
    this.flushSync();
  }

  private takeChunk(): Chunk {
    const { lines, torn } = this;
    this.lines = [];
    this.bytes = 0;
    this.torn = false;
    return { bytes: Buffer.from((torn ? '\n' : '') + lines.join('')), lines: lines.length };
  }

  private writeChunk({ bytes, lines }: Chunk): void {
    write(this.fd, bytes, 0, bytes.length, null, (error, written) => {
      if (error && isBusy(error)) return this.writeLater({ bytes, lines });
      if (!error && written < bytes.length) {
        this.torn = true;
        return this.writeChunk({ bytes: bytes.subarray(written), lines });
      }
      if (error) this.onDropped(lines);
      else this.torn = false;
      this.writing = false;
      if (this.bytes >= FLUSH_AT_BYTES) this.flush();
    });
  }

  private writeLater(chunk: Chunk): void {
    this.refused = chunk;
    setTimeout(() => {
      if (this.refused !== chunk) return;
      this.refused = undefined;
      this.writeChunk(chunk);
    }, RETRY_MS).unref();
  }

  private writeChunkSync({ bytes, lines }: Chunk): void {
    let rest = bytes;
    let retries = 0;
    while (rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(this.fd, rest));
      } catch (error) {
        if (!isBusy(error) || retries === MAX_EXIT_RETRIES) return this.onDropped(lines);
        retries += 1;
        pause(RETRY_MS);
      }
    }
  }
}
