import {
  InputError,
  MAX_JSON_DEPTH,
  MAX_LINE_BYTES,
  MAX_LINES,
  notUtf8,
  type ReadRecord,
  tooDeep,
  tooLong,
  tooManyLines,
  withoutBom,
} from './input.js';
import { parseRecord } from './parse-json.js';

const LF = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN = new Set([0x5b, 0x7b]);
const CLOSE = new Set([0x5d, 0x7d]);
const BLANK = new Set([0x09, LF, 0x0d, 0x20]);
const ARRAY_START = 0x5b;
const ARRAY_END = 0x5d;

const noArray = (line: number) => new InputError(line, 'The file is not a JSON array');

/** Cuts the bytes of a JSON array into its records, and parses each by itself. Never keeps more than one record. */
class ArrayScanner {
  private place: 'before' | 'between' | 'inside' | 'after' = 'before';
  private line = 1;
  private count = 0;
  private expectsRecord = false;
  private pieces: Buffer[] = [];
  private size = 0;
  private startLine = 0;
  private depth = 0;
  private isTooDeep = false;
  private inString = false;
  private isEscaped = false;
  private readonly decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  /** @throws InputError no array, or too many records */
  scan(chunk: Buffer): ReadRecord[] {
    const records: ReadRecord[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (this.place === 'inside') {
        if (this.endsRecord(byte)) {
          this.keep(chunk.subarray(from, at));
          records.push(this.take());
          this.place = byte === COMMA ? 'between' : 'after';
          this.expectsRecord = byte === COMMA;
        }
      } else if (!BLANK.has(byte)) {
        const begins = this.step(byte);
        // The byte that begins a record may also open a string or a bracket.
        if (begins) {
          from = at;
          this.endsRecord(byte);
        }
      }
      if (byte === LF) this.line += 1;
    }
    if (this.place === 'inside') this.keep(chunk.subarray(from));
    return records;
  }

  /** @throws InputError the array does not end */
  end(): void {
    if (this.place !== 'after') throw noArray(this.line);
  }

  /** Takes a byte outside of records; returns whether it begins one. @throws InputError */
  private step(byte: number): boolean {
    const { place } = this;
    if (place === 'before' && byte === ARRAY_START) this.place = 'between';
    else if (place === 'between' && byte === ARRAY_END && !this.expectsRecord) this.place = 'after';
    else if (place === 'between' && byte !== COMMA && byte !== ARRAY_END) {
      this.place = 'inside';
      this.startLine = this.line;
      return true;
    } else throw noArray(this.line);
    return false;
  }

  /** Takes a byte of a record; returns whether it is the comma or bracket behind it. */
  private endsRecord(byte: number): boolean {
    if (this.inString) {
      if (this.isEscaped) this.isEscaped = false;
      else if (byte === BACKSLASH) this.isEscaped = true;
      else if (byte === QUOTE) this.inString = false;
      return false;
    }
    if (byte === QUOTE) this.inString = true;
    else if (OPEN.has(byte)) {
      this.depth += 1;
      if (this.depth > MAX_JSON_DEPTH) this.isTooDeep = true;
    } else if (CLOSE.has(byte)) {
      if (this.depth === 0) return byte === ARRAY_END;
      this.depth -= 1;
    } else if (byte === COMMA) return this.depth === 0;
    return false;
  }

  private keep(bytes: Buffer): void {
    this.size += bytes.length;
    if (this.size > MAX_LINE_BYTES) this.pieces = [];
    // A copy: the record may last longer than the chunk.
    else this.pieces.push(Buffer.from(bytes));
  }

  private take(): ReadRecord {
    const { startLine: line, size, pieces, isTooDeep } = this;
    Object.assign(this, { pieces: [], size: 0, depth: 0, isTooDeep: false });
    this.count += 1;
    if (this.count > MAX_LINES) throw tooManyLines(line);
    if (size > MAX_LINE_BYTES) return { line, problem: tooLong };
    if (isTooDeep) return { line, problem: tooDeep };
    try {
      return parseRecord(line, this.decoder.decode(Buffer.concat(pieces)));
    } catch {
      return { line, problem: notUtf8 };
    }
  }
}

/**
 * Reads the records of a JSON array, in groups as they arrive.
 * @throws InputError no array, or too many records, and what `bytes` throws
 */
export async function* readArray(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ReadRecord[]> {
  const scanner = new ArrayScanner();
  let isFirst = true;
  for await (const chunk of bytes) {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const records = scanner.scan(isFirst ? withoutBom(buffer) : buffer);
    isFirst = false;
    if (records.length > 0) yield records;
  }
  scanner.end();
}
