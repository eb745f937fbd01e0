import { findAll } from './find-all.js';
import { toByteString, joinLines, type Reading, createReading, unescape } from './unescape.js';

/** Shorter forms would redact half of any text. */
export const SHORTEST_FORM = 4;
/** A shorter form is not broken into lines; joining them would find it where it is not. */
const SHORTEST_BROKEN = 16;
/** Maximum number of nested escapes read, such as JSON in HTML in a URL. */
const LAYERS = 6;

/** A text after some layers of decoding, and the forms of secrets as they appear in it. */
export interface Layer {
  reading: Reading;
  forms: ReadonlySet<string>;
}

/** Without one of these `unescape` changes nothing, and decoding costs more than looking. */
const ESCAPING = /[\\%&+\n\r\t\b\f]/;

/** Returns the forms after decoding one more layer of escapes, as they appear in the decoded text. */
function unescapedForms(forms: ReadonlySet<string>): ReadonlySet<string> {
  const read = [...forms].map((form) => (ESCAPING.test(form) ? unescape(createReading(form)).bytes : form));
  return new Set(read.filter((form) => form.length >= SHORTEST_FORM || forms.has(form)));
}

const isSame = (some: ReadonlySet<string>, others: ReadonlySet<string>): boolean =>
  some.size === others.size && [...some].every((form) => others.has(form));

/** Returns the layer of a text whose lines are joined: base64 and hex are printed in lines of 60 to 76 characters. */
export function joinedLayer(forms: ReadonlySet<string>, bytes: string): Layer | undefined {
  const long = new Set([...forms].filter((form) => form.length >= SHORTEST_BROKEN));
  return long.size > 0 && /[\r\n]/.test(bytes) ? { reading: joinLines(createReading(bytes)), forms: long } : undefined;
}

/**
 * Yields a text as it is, with its lines joined, then each layer of unescaping until none is left. `bytes`: as of `toByteString`. `isPart`: the text goes on, so it
 * also yields the layers that only a later escape would make.
 */
export function* listLayers(forms: Iterable<string>, bytes: string, isPart = false): Generator<Layer> {
  let reading = createReading(bytes);
  let present: ReadonlySet<string> = new Set(Array.from(forms, toByteString));
  const joined = joinedLayer(present, bytes);
  if (joined) yield joined;
  for (let layer = 0; ; layer += 1) {
    yield { reading, forms: present };
    if (layer === LAYERS) return;
    const next = unescape(reading);
    const isDecoded = next.bytes !== reading.bytes;
    if (!isDecoded && !isPart) return;
    const decoded = unescapedForms(present);
    if (!isDecoded && isSame(decoded, present)) return;
    reading = next;
    present = decoded;
  }
}

/** Counts in `edges` how many forms begin at each byte of the text, minus how many end there. */
export function markForms({ reading, forms }: Layer, edges: Int32Array): void {
  const mark = (at: number, by: number) => (edges[at] = (edges[at] as number) + by);
  for (const form of forms) {
    for (const at of findAll(form, reading.bytes)) {
      mark(reading.from[at] as number, 1);
      mark(reading.until[at + form.length - 1] as number, -1);
    }
  }
}

/** Returns the text of `bytes` up to `end`, with `mask` in the place of each marked range. */
export function replaceMarked(bytes: string, edges: Int32Array, end: number, mask: string): string {
  let out = '';
  let open = 0;
  let done = 0;
  for (let at = 0; at < end; at += 1) {
    const before = open;
    open += edges[at] as number;
    if (before === 0 && open > 0) out += `${bytes.slice(done, at)}${mask}`;
    if (before > 0 && open === 0) done = at;
  }
  return Buffer.from(open === 0 ? out + bytes.slice(done, end) : out, 'latin1').toString();
}
