/** Longest line, or record of an array, in bytes. */
export const MAX_LINE_BYTES = 1024 * 1024;
/** Lines of one input, blank ones included; for an array its records. */
export const MAX_LINES = 1_000_000;
/** Records of one input. A line of another product may hold many, and each takes more room than its text. */
export const MAX_RECORDS = 5_000_000;
/** Deepest nesting of a record's JSON. */
export const MAX_JSON_DEPTH = 32;

/** A record as the file has it. `line` counts from 1, blank lines included; it is the first line of a record of several. */
export interface RawRecord {
  line: number;
  value: unknown;
}

/** A line that is no record; the others are read on. `problem` is a sentence without text of the file. */
export interface BadRecord {
  line: number;
  problem: string;
}

export type ReadRecord = RawRecord | BadRecord;

export const isBad = (record: ReadRecord): record is BadRecord => 'problem' in record;

/** The input cannot be read on: the job ends as failed. `message` is a sentence without text of the file. */
export class InputError extends Error {
  override readonly name = 'InputError';

  constructor(
    readonly line: number,
    message: string,
  ) {
    super(message);
  }
}

export const tooLong = `The line is longer than ${MAX_LINE_BYTES.toLocaleString('en-US')} bytes`;
export const notUtf8 = 'The line is not valid UTF-8';
export const tooDeep = `The JSON is nested deeper than ${MAX_JSON_DEPTH} levels`;
export const notJson = 'The line is not valid JSON';
export const tooManyLines = (line: number) =>
  new InputError(line, `The file has more than ${MAX_LINES.toLocaleString('en-US')} lines`);

const BOM = [0xef, 0xbb, 0xbf] as const;
/** Returns bytes without a byte order mark at their start. */
export const withoutBom = (bytes: Buffer): Buffer =>
  BOM.every((byte, at) => bytes[at] === byte) ? bytes.subarray(BOM.length) : bytes;

/** First bytes of compressed files. */
const COMPRESSED = [
  [0x1f, 0x8b],
  [0x50, 0x4b, 0x03, 0x04],
  [0x28, 0xb5, 0x2f, 0xfd],
  [0x42, 0x5a, 0x68],
  [0xfd, 0x37, 0x7a, 0x58, 0x5a],
  [0x37, 0x7a, 0xbc, 0xaf],
] as const;
/** Bytes that `isCompressed` looks at. */
export const HEAD_BYTES = 8;

/** Returns whether a file begins as gzip, zip, zstd, bzip2, xz or 7z do. None of them is read: a small file may hold terabytes. */
export const isCompressed = (head: Uint8Array): boolean =>
  COMPRESSED.some((magic) => magic.every((byte, at) => head[at] === byte));
