import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { HASHED_FIELDS, linkEntry, type StoredEntry } from '../chain.js';

/** An entry with its seal: one line of an archive, as JSON. Lines are ordered by chain and sequence. Hashes are hexadecimal. */
export interface ArchivedEntry {
  chain: string;
  sequence: number;
  prev_hash: string;
  entry_hash: string;
  entry: StoredEntry;
}

/** What identifies the content of an archive, however it is compressed. */
export interface ArchiveContent {
  entries: number;
  /** SHA-256 of the uncompressed bytes, hexadecimal. */
  content_hash: string;
  /** SHA-256 over the entry hashes in the order of the lines, hexadecimal. */
  seals_hash: string;
}

export const archiveFileName = (month: string): string => `audit-${month}.ndjson.gz`;

const HASH = /^[0-9a-f]{64}$/;

const buildLine = ({ entry, ...seal }: ArchivedEntry): Buffer =>
  Buffer.from(`${JSON.stringify({ ...seal, ...Object.fromEntries(HASHED_FIELDS.map((field) => [field, entry[field]])) })}\n`);

/** @throws Error if the line is no entry */
function parseLine(line: Buffer): ArchivedEntry {
  const { chain, sequence, prev_hash, entry_hash, ...fields } = JSON.parse(line.toString('utf8')) as Record<string, unknown>;
  const isText = (value: unknown): boolean => value === null || typeof value === 'string';
  const hashes = [prev_hash, entry_hash];
  if (
    typeof chain !== 'string' ||
    !Number.isSafeInteger(sequence) ||
    !hashes.every((hash) => typeof hash === 'string' && HASH.test(hash)) ||
    !HASHED_FIELDS.every((field) => isText(fields[field]))
  )
    throw new Error('not an entry');
  return { chain, sequence, prev_hash, entry_hash, entry: fields } as ArchivedEntry;
}

/**
 * Writes an archive; it is on disk when the promise resolves.
 * @throws Error of the file system, or of `rows`
 */
export async function writeArchive(path: string, rows: AsyncIterable<ArchivedEntry[]>): Promise<ArchiveContent> {
  const content = createHash('sha256');
  const seals = createHash('sha256');
  let entries = 0;
  async function* lines(): AsyncGenerator<Buffer> {
    for await (const page of rows) {
      const block = Buffer.concat(page.map(buildLine));
      for (const { entry_hash } of page) seals.update(entry_hash, 'hex');
      content.update(block);
      entries += page.length;
      yield block;
    }
  }
  await pipeline(Readable.from(lines()), createGzip(), createWriteStream(path, { flush: true, mode: 0o600 }));
  return { entries, content_hash: content.digest('hex'), seals_hash: seals.digest('hex') };
}

/** Reads the archive's entries in pages, as they are; `content` is told each uncompressed block. */
async function* readLines(path: string, content: (block: Buffer) => void): AsyncGenerator<ArchivedEntry[]> {
  const source = createReadStream(path);
  const blocks = createGunzip();
  source.on('error', (error) => blocks.destroy(error));
  source.pipe(blocks);
  let rest = Buffer.alloc(0);
  let count = 0;
  for await (const block of blocks as AsyncIterable<Buffer>) {
    content(block);
    rest = Buffer.concat([rest, block]);
    const page: ArchivedEntry[] = [];
    let start = 0;
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n', start)) {
      count += 1;
      try {
        page.push(parseLine(rest.subarray(start, end)));
      } catch {
        throw new Error(`line ${count} is not an entry`);
      }
      start = end + 1;
    }
    rest = rest.subarray(start);
    yield page;
  }
  if (rest.length > 0) throw new Error(`line ${count + 1} is cut off`);
}

/** Reads an archive entry by entry, and hashes what it reads. Opens the file at the first call. */
export class ArchiveReader {
  #page: ArchivedEntry[] = [];
  #next = 0;
  readonly #pages: AsyncGenerator<ArchivedEntry[]>;
  readonly #content = createHash('sha256');
  readonly #seals = createHash('sha256');
  #entries = 0;

  constructor(readonly path: string) {
    this.#pages = readLines(path, (block) => this.#content.update(block));
  }

  /**
   * Returns the next entry without passing it; undefined at the end.
   * @throws Error if the file is missing, damaged or not an archive
   */
  async peek(): Promise<ArchivedEntry | undefined> {
    while (this.#next === this.#page.length) {
      const { value, done } = await this.#pages.next();
      if (done) return undefined;
      this.#page = value;
      this.#next = 0;
    }
    return this.#page[this.#next];
  }

  /** Passes the entry that `peek` returned. Its hash is computed from its fields, so a stored hash proves nothing. */
  pass(): void {
    const { entry, sequence, prev_hash } = this.#page[this.#next] as ArchivedEntry;
    const { hash } = linkEntry(entry, { sequence: sequence - 1, hash: Buffer.from(prev_hash, 'hex') });
    this.#seals.update(hash);
    this.#entries += 1;
    this.#next += 1;
  }

  /**
   * Reads to the end.
   * @throws as `peek`
   */
  async finish(): Promise<ArchiveContent> {
    while (await this.peek()) this.pass();
    return { entries: this.#entries, content_hash: this.#content.digest('hex'), seals_hash: this.#seals.digest('hex') };
  }

  async close(): Promise<void> {
    await this.#pages.return(undefined);
  }
}
