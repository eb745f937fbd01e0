import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Config } from '../../platform/config.js';
import { newId } from '../../platform/ids.js';

/** Maximum bytes of a list in memory; a longer one waits for its reader in a file. */
const MAX_HELD_BYTES = 1000 * 1000;

/** Creates a file without a name: it is gone when it is closed, and after a crash. */
async function openUnnamed(dataDir: string): Promise<FileHandle> {
  const folder = join(dataDir, 'lists');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, newId());
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}

/**
 * A JSON array that grows by its rows. So headers can tell where it ends before its first byte is sent, and a slow reader costs no memory. `close`
 * it unless `body` is sent.
 */
export class Spool {
  #texts: string[] = [];
  #bytes = 1;
  #file: FileHandle | undefined;

  constructor(private readonly config: Pick<Config, 'DATA_DIR' | 'LIST_MAX_BYTES'>) {}

  /** Returns whether these rows fit. The first ones always do: a list goes on behind at least one row. */
  hasRoom(rows: string): boolean {
    return this.#bytes <= 1 || this.#bytes + Buffer.byteLength(rows) + 1 <= this.config.LIST_MAX_BYTES;
  }

  /** Adds rows, separated by commas. */
  async add(rows: string): Promise<void> {
    if (rows === '') return;
    const text = (this.#bytes <= 1 ? '[' : ',') + rows;
    this.#bytes += Buffer.byteLength(text);
    if (this.#file === undefined) {
      this.#texts.push(text);
      if (this.#bytes <= MAX_HELD_BYTES) return;
      this.#file = await openUnnamed(this.config.DATA_DIR);
    }
    const held = this.#texts.length > 0 ? this.#texts.join('') : text;
    this.#texts = [];
    await this.#file.appendFile(held);
  }

  /** Returns the whole array: a text, or a stream with its length in bytes. */
  async body(): Promise<string | { stream: Readable; length: number }> {
    if (this.#file === undefined) return `${this.#texts.length > 0 ? this.#texts.join('') : '['}]`;
    await this.#file.appendFile(']');
    return { stream: this.#file.createReadStream({ start: 0 }), length: (await this.#file.stat()).size };
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}
