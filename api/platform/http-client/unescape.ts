/** Decoded bytes (one per character) plus, for each byte, its start and end offset in the input. */
export interface Reading {
  bytes: string;
  from: Uint32Array;
  until: Uint32Array;
}

/** Returns the UTF-8 bytes of a text, one per character. */
export const toByteString = (text: string): string => Buffer.from(text).toString('latin1');

/** Returns a reading of bytes before any decoding. */
export function createReading(bytes: string): Reading {
  const from = Uint32Array.from({ length: bytes.length }, (_, at) => at);
  return { bytes, from, until: from.map((at) => at + 1) };
}

/**
 * Escapes of a character in JSON, programming languages, URLs and HTML. Backslashes double each time JSON is nested in JSON, so any
 * number of them counts as one escape. No part matches in two ways, so matching is linear.
 */
const ESCAPE = new RegExp(
  [
    String.raw`\\+u(?<units>d[89ab][0-9a-f]{2}\\+ud[c-f][0-9a-f]{2}|[0-9a-f]{4})`,
    String.raw`(?:\\+x|%)(?<byte>[0-9a-f]{2})`,
    String.raw`\\+(?<itself>[^\\]?)`,
    '&(?:(?<name>amp|lt|gt|quot|apos)|#x(?<point>[0-9a-f]{1,6})|#(?<decimal>[0-9]{1,7}));',
    String.raw`(?<bare>[\n\r\t\b\f+])`,
  ].join('|'),
  'gi',
);

const NAMES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
/**
 * A control character is read as its letter: only the writer knows whether `\n` is one or follows a backslash. A plus may be a
 * blank.
 */
const TAKEN_FOR: Record<string, string> = { '\n': 'n', '\r': 'r', '\t': 't', '\b': 'b', '\f': 'f', '+': ' ' };

const parseHex = (text: string): number => Number.parseInt(text, 16);
const decodePoint = (point: number): string => toByteString(point > 0x10ffff ? '\ufffd' : String.fromCodePoint(point));

/** Maps each group of `ESCAPE` to the bytes it stands for. */
const MEANINGS: [part: string, meaning: (text: string) => string][] = [
  ['itself', (text) => text],
  ['bare', (text) => text],
  ['units', (text) => toByteString(String.fromCharCode(...text.split(/\\+u/i).map(parseHex)))],
  ['byte', (text) => String.fromCharCode(parseHex(text))],
  ['name', (text) => NAMES[text.toLowerCase()] as string],
  ['point', (text) => decodePoint(parseHex(text))],
  ['decimal', (text) => decodePoint(Number(text))],
];

function decodeEscape(groups: Record<string, string | undefined>): string {
  for (const [part, meaning] of MEANINGS) {
    const text = groups[part];
    if (text === undefined) continue;
    const meant = meaning(text);
    return TAKEN_FOR[meant] ?? meant;
  }
  return '';
}

/**
 * Decodes one layer of escapes: `\/`, `\u002f`, `%2F` and `&#x2F;` all become `/`. An escaped text and its origin then read the
 * same, so the one is found in the other.
 */
export function unescape({ bytes, from, until }: Reading): Reading {
  const parts: string[] = [];
  // No escape stands for more bytes than it has.
  const read = { from: new Uint32Array(bytes.length), until: new Uint32Array(bytes.length) };
  let length = 0;
  let done = 0;
  const keep = (end: number) => {
    parts.push(bytes.slice(done, end));
    read.from.set(from.subarray(done, end), length);
    read.until.set(until.subarray(done, end), length);
    length += end - done;
  };
  for (const { 0: escape, index, groups = {} } of bytes.matchAll(ESCAPE)) {
    keep(index);
    const meant = decodeEscape(groups);
    parts.push(meant);
    done = index + escape.length;
    read.from.fill(from[index] as number, length, length + meant.length);
    read.until.fill(until[done - 1] as number, length, length + meant.length);
    length += meant.length;
  }
  keep(bytes.length);
  return { bytes: parts.join(''), from: read.from.subarray(0, length), until: read.until.subarray(0, length) };
}

/** Leaves out the ends of lines, with the indentation that follows them, and a half one at the end. */
export function joinLines({ bytes, from, until }: Reading): Reading {
  const parts = bytes.split(/(\r?\n[ \t]*|\r$)/);
  const read = { from: new Uint32Array(bytes.length), until: new Uint32Array(bytes.length) };
  let length = 0;
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const end = at + part.length;
    if (index % 2 === 0) {
      read.from.set(from.subarray(at, end), length);
      read.until.set(until.subarray(at, end), length);
      length += part.length;
    }
    at = end;
  }
  const kept = parts.filter((_part, index) => index % 2 === 0).join('');
  return { bytes: kept, from: read.from.subarray(0, length), until: read.until.subarray(0, length) };
}

/** Bytes in which an escape that is cut off is looked for: a pair of surrogates in JSON, nested in five others. */
const MAX_OPEN_ESCAPE = 256;
/** A beginning of an escape at the end of a text. */
const OPEN_ESCAPE = new RegExp(
  [
    String.raw`\\+(?:ud[89ab][0-9a-f]{2}(?:\\+(?:u(?:d(?:[c-f][0-9a-f]?)?)?)?)?|u[0-9a-f]{0,3}|x[0-9a-f]?)?`,
    '%[0-9a-f]?',
    '&(?:am?p?|ap?o?s?|lt?|gt?|qu?o?t?|#(?:x[0-9a-f]{0,6}|[0-9]{0,7}))?',
  ]
    .map((part) => `(?:${part})$`)
    .join('|'),
  'i',
);

/**
 * Returns where the escape starts in the input that the bytes up to `end` (an offset in the input) are cut in; `end` if they are not. The
 * bytes of a text that goes on are known up to there only.
 */
export function openEscape({ bytes, from, until }: Reading, end: number): number {
  let known = bytes.length;
  while (known > 0 && (until[known - 1] as number) > end) known -= 1;
  const first = Math.max(0, known - MAX_OPEN_ESCAPE);
  const at = bytes.slice(first, known).search(OPEN_ESCAPE);
  return at < 0 ? end : Math.min(end, from[first + at] as number);
}
