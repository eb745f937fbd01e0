import { openStart } from '../../../platform/http-client/find-all.js';
import { listForms } from '../../../platform/http-client/redact-secrets.js';
import { joinedLayer, type Layer, listLayers, markForms, replaceMarked } from '../../../platform/http-client/secret-layers.js';
import { toByteString, openEscape, type Reading, createReading } from '../../../platform/http-client/unescape.js';

/** Replaces a secret in a log. */
const MASK = '***';
/** Shorter lines and beginnings of a secret would mask half of any text. */
const SHORTEST = 4;
/**
 * Bytes of a text that may be held back, beside four times the longest form. Each layer of escapes makes a secret longer; without a limit
 * a command could make each chunk as expensive as the whole log.
 */
const MAX_HELD = 4_096;
/** Characters of all values that are searched in every layer, the shortest values first. Each chunk pays for them again. */
const MAX_DECODED = 8_192;

/** A text in which secrets were searched; offsets are in its bytes. */
interface Scan {
  bytes: string;
  edges: Int32Array;
  /** Where the earliest beginning of a secret starts that the text ends in. */
  open: number;
  /** Where the end starts that must wait for more of the text: `open`, or an escape that is not complete. */
  held: number;
}

/** Returns every text that a log must not show: the values, their usual encodings, and the lines of those with several. */
const maskedForms = (values: readonly string[]): string[] => [
  ...new Set(
    values.flatMap((value) => [
      ...listForms(value),
      ...value
        .split(/\r?\n/)
        .map((line) => line.trim())
        .filter((line) => line.length >= SHORTEST),
    ]),
  ),
];

const findLongest = (forms: Iterable<string>): number => Math.max(0, ...Array.from(forms, ({ length }) => length));

/** Returns the layers of a text that goes on; those values that are too long to be decoded are searched in the text as it is. */
function layersFor(values: readonly string[], bytes: string): { layers: Layer[]; most: number } {
  const byLength = values.toSorted((a, b) => a.length - b.length);
  let sum = 0;
  const isDecoded = (value: string) => (sum += value.length) <= MAX_DECODED;
  const [decoded, long]: [string[], string[]] = [[], []];
  for (const value of byLength) (isDecoded(value) ? decoded : long).push(value);
  const layers = [...listLayers(maskedForms(decoded), bytes, true)];
  const most = MAX_HELD + 4 * Math.max(...layers.map(({ forms }) => findLongest(forms)));
  if (long.length === 0) return { layers, most };
  const forms = new Set(maskedForms(long).map(toByteString));
  return {
    layers: [...layers, { reading: createReading(bytes), forms }, joinedLayer(forms, bytes) ?? []].flat(),
    most: Math.max(most, 2 * findLongest(forms)),
  };
}

/** Returns `at`, or where the escape or character starts of which it is the middle, in any layer. */
function betweenTokens(readings: readonly Reading[], at: number): number {
  for (const { from, until } of readings) {
    let last = from.length - 1;
    while (last >= 0 && (from[last] as number) >= at) last -= 1;
    if (last >= 0 && (until[last] as number) > at) return betweenTokens(readings, from[last] as number);
  }
  return at;
}

/** Returns `at`, or the start of the marked range that it lies in; the end of a range that is longer than `most`. */
function outsideRange({ length }: string, edges: Int32Array, at: number, most: number): number {
  let open = 0;
  let start = 0;
  for (let each = 0; each < length; each += 1) {
    const before = open;
    open += edges[each] as number;
    if (before === 0 && open > 0) {
      if (each >= at) return at;
      start = each;
    }
    if (before > 0 && open === 0 && each > at) return length - start <= most ? start : each;
    if (each >= at && open === 0) return at;
  }
  return open > 0 && start < at && at < length ? (length - start <= most ? start : length) : at;
}

/** Returns where beginnings of secrets start in a layer, of those that go on behind `escape`, the first byte of an escape that is cut. */
function openIn({ reading: { bytes, from, until }, forms }: Layer, escape: number, end: number): number {
  let known = bytes.length;
  while (known > 0 && (until[known - 1] as number) > escape) known -= 1;
  let first = bytes.length;
  for (const form of forms) first = Math.min(first, openStart(form, bytes, known));
  return from[first] ?? end;
}

/** Searches secrets in a text that goes on. */
function scan(values: readonly string[], text: string): Scan {
  const bytes = toByteString(text);
  const edges = new Int32Array(bytes.length + 1);
  const { layers, most } = layersFor(values, bytes);
  let [open, escape] = [bytes.length, bytes.length];
  for (const layer of layers) {
    markForms(layer, edges);
    escape = openEscape(layer.reading, escape);
    open = Math.min(open, openIn(layer, escape, bytes.length));
  }
  const readings = layers.map(({ reading }) => reading);
  const wanted = betweenTokens(readings, Math.max(Math.min(open, escape), bytes.length - most));
  return { bytes, edges, open, held: outsideRange(bytes, edges, wanted, most) };
}

/** Masks secrets in a whole text. */
export function maskText(values: readonly string[], text: string): string {
  const { bytes, edges } = scan(values, text);
  return replaceMarked(bytes, edges, bytes.length, MASK);
}

/**
 * Masks secrets, in any encoding that an HTTP answer is searched for, in the next part of a text that arrives in parts. `tail`: the end of
 * the text before, which may be the beginning of a secret. Returns what is safe to show and the new tail.
 */
export function maskPart(values: readonly string[], tail: string, part: string): { text: string; tail: string } {
  if (values.length === 0) return { text: tail + part, tail: '' };
  const { bytes, edges, held } = scan(values, tail + part);
  return {
    text: replaceMarked(bytes, edges, held, MASK),
    tail: Buffer.from(bytes.slice(held), 'latin1').toString(),
  };
}

/** Masks the end of a text that arrived in parts: what is left may be most of a secret. */
export function maskEnd(values: readonly string[], tail: string): string {
  if (tail === '') return '';
  const { bytes, edges, open } = scan(values, tail);
  const end = bytes.length - open < SHORTEST ? bytes.length : open;
  return `${replaceMarked(bytes, edges, end, MASK)}${end < bytes.length ? MASK : ''}`;
}
