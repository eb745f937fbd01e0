import { write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

/** Bytes that trigger a write, and the longest wait of fewer bytes, ms. */
const FLUSH_AT_BYTES = 12_288;
const FLUSH_EVERY_MS = 200;
/** Lines beyond this are dropped while the file accepts none, so that a log cannot fill the memory. */
const MAX_BUFFERED_BYTES = 1024 * 1024;
/** Pause before a full pipe is retried, ms; at exit at most MAX_EXIT_RETRIES times. */
const RETRY_MS = 10;
const MAX_EXIT_RETRIES = 50;

const isBusy = (error: unknown): boolean => ['EAGAIN', 'EBUSY'].includes((error as NodeJS.ErrnoException).code ?? '');
const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

interface Chunk {
  bytes: Buffer;
  lines: number;
}

/**
 * Writes log lines to a file descriptor, batched and asynchronous. Drops and counts lines that cannot be written, because the disk
 * is full or the reader is gone: logging never ends the process and never delays its exit. pino's own destination does both, and
 * copies its whole buffer for each further line.
 */
export class LogStream implements DestinationStream {
  private lines: string[] = [];
  private bytes = 0;
  private writing = false;
  /** The last write ended inside a line; the next one starts with a line feed. */
  private torn = false;
  /** A chunk that a full pipe refused; retried after a pause, or at exit. */
  private refused: Chunk | undefined;
  private readonly timer: NodeJS.Timeout;
  private readonly flushAtExit = (): void => this.flushSync();

  /** `onDropped` receives the number of dropped lines. */
  constructor(
    private readonly fd: number,
    private readonly onDropped: (lines: number) => void,
  ) {
    this.timer = setInterval(() => this.flush(), FLUSH_EVERY_MS).unref();
    process.on('exit', this.flushAtExit);
  }

  /** Buffers one line that ends with a line feed. Never throws, never blocks. */
  write(line: string): void {
    if (this.bytes + line.length > MAX_BUFFERED_BYTES) {
      this.onDropped(1);
      return;
    }
    this.lines.push(line);
    this.bytes += line.length;
    if (this.bytes >= FLUSH_AT_BYTES) this.flush();
  }

  /** Writes the buffer, unless a write is in progress; later lines follow it. */
  flush(): void {
    if (this.writing || this.lines.length === 0) return;
    this.writing = true;
    this.writeChunk(this.takeChunk());
  }

  /**
   * Writes the buffer synchronously before the process ends, perhaps before a write in progress, which nothing can wait for by then. Drops
   * what cannot be written.
   */
  flushSync(): void {
    const { refused } = this;
    this.refused = undefined;
    if (refused) this.writeChunkSync(refused);
    if (this.lines.length > 0) this.writeChunkSync(this.takeChunk());
  }

  /** Writes the buffer and detaches from the process. */
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
