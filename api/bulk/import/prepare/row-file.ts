import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../../platform/config.js';

/** Bytes that are collected before they are written. */
const BUFFER = 256 * 1024;
const LF = 0x0a;

/** Rows of one kind in a file of the job's folder: one line each, written at the end and read from the start. */
export class RowFile {
  private handle: FileHandle | undefined;
  private pending: string[] = [];
  private size = 0;
  rows = 0;

  constructor(private readonly path: string) {}

  /** Adds a row; the caller awaits the promise, if there is one, before the next. */
  add(row: string): Promise<void> | undefined {
    this.pending.push(row, '\n');
    this.size += row.length;
    this.rows += 1;
    return this.size > BUFFER ? this.flush() : undefined;
  }

  private async flush(): Promise<void> {
    this.handle ??= await open(this.path, 'w', 0o600);
    const text = this.pending.join('');
    this.pending = [];
    this.size = 0;
    await this.handle.appendFile(text);
  }

  /** Writes what is pending, and closes the file. */
  async close(): Promise<void> {
    if (this.pending.length > 0) await this.flush();
    await this.handle?.close();
    this.handle = undefined;
  }

  /** Closes the file of a preparation that has failed, without what is pending. */
  async release(): Promise<void> {
    await this.handle?.close();
    this.handle = undefined;
  }

  /** Reads the rows in groups, each with its line end. */
  async *read(): AsyncGenerator<Buffer[]> {
    if (this.rows === 0) return;
    let rest = Buffer.alloc(0);
    for await (const chunk of createReadStream(this.path, { highWaterMark: BUFFER }) as AsyncIterable<Buffer>) {
      const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      const rows: Buffer[] = [];
      let from = 0;
      for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, from)) {
        rows.push(bytes.subarray(from, at + 1));
        from = at + 1;
      }
      rest = Buffer.from(bytes.subarray(from));
      yield rows;
    }
  }
}

/** Folders that a crash left are removed after this time, ms. */
const LEFT_AFTER_MS = 2 * 24 * 60 * 60 * 1000;

/**
 * Creates a folder for the work of one attempt, which nobody else can read. An attempt that missed its heartbeats may still work, so no two share
 * one. Removes those of earlier attempts, and what crashes left long ago.
 */
export async function makeWorkFolder(config: Config, jobId: string, attempt: number): Promise<string> {
  const parent = join(config.DATA_DIR, 'bulk');
  const folder = join(parent, `${jobId}.${attempt}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of await readdir(parent)) {
    const path = join(parent, name);
    const [ofJob, nth = '0'] = name.split('.');
    const found = await stat(path).catch(() => undefined);
    const isOld = found !== undefined && Date.now() - found.mtimeMs > LEFT_AFTER_MS;
    if (isOld || (ofJob === jobId && Number(nth) < attempt)) await removeWorkFolder(path);
  }
  return folder;
}

export const removeWorkFolder = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });
