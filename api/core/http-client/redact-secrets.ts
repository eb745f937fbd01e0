import { findAll } from './find-all.js';
import { bytesOf, type Reading, readingOf, unescape } from './unescape.js';

/** Replaces a secret. */
const HIDDEN = '[secret]';
/** Shorter forms would redact half of any text. */
const SHORTEST_FORM = 4;
/** Maximum number of nested escapes read, such as JSON in HTML in a URL. */
const LAYERS = 6;
/** Maximum rest of a truncated escape. */
const CUT_ESCAPE = 16;

/** Returns the part of a base64 text containing `bytes` that does not depend on neighboring bytes, for each of three alignments. */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const inner = text.slice(before === 0 ? 0 : before + 1, (before + bytes.length) % 3 === 0 ? undefined : -1);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** Returns a secret's encodings: plain and the usual codes. Escapes need no form, because unescape.ts decodes them. */
export function formsOf(secret: string): string[] {
  const hex = Buffer.from(secret).toString('hex');
  const inJson = JSON.stringify(secret).slice(1, -1);
  const escaped = [
    encodeURIComponent(secret),
    new URLSearchParams([['', secret]]).toString().slice(1),
    new URL(`http://h/?${secret}`).search.slice(1),
    new URL(`http://h/${secret}`).pathname.slice(1),
  ];
  const forms = [
    secret.trim(),
    inJson,
    ...escaped,
    // The receiver may echo the body in base64.
    ...[secret, inJson, ...escaped].flatMap((form) => base64Forms(Buffer.from(form))),
    hex,
    hex.toUpperCase(),
    // Headers and bodies use different encodings, and a receiver may confuse them.
    Buffer.from(secret).toString('latin1'),
    Buffer.from(secret, 'latin1').toString(),
  ];
  return [secret, ...forms.filter((form) => form.length >= SHORTEST_FORM)].filter((form) => form !== '');
}

/** Returns the forms after decoding one more layer of escapes, as they appear in the decoded text. */
function unescapedForms(forms: ReadonlySet<string>): Set<string> {
  const read = [...forms].map((form) => unescape(readingOf(form)).bytes);
  return new Set(read.filter((form) => form.length >= SHORTEST_FORM || forms.has(form)));
}

/** Returns where to drop the end of a truncated text: it may hold the beginning of a form and of an escape in it. */
function cutOf({ bytes, from }: Reading, forms: ReadonlySet<string>): number {
  const longest = Math.max(0, ...[...forms].map(({ length }) => length));
  let at = Math.max(0, bytes.length - longest - CUT_ESCAPE);
  while (at > 0 && (bytes.charCodeAt(at) & 0xc0) === 0x80) at -= 1; // between two characters
  return from[at] ?? 0;
}

/** `edges`: number of redacted ranges that begin at each byte, minus those that end there. */
function withoutHidden(bytes: string, edges: Int32Array, end: number): string {
  let out = '';
  let open = 0;
  let done = 0;
  for (let at = 0; at < end; at += 1) {
    const before = open;
    open += edges[at] as number;
    if (before === 0 && open > 0) out += `${bytes.slice(done, at)}${HIDDEN}`;
    if (before > 0 && open === 0) done = at;
  }
  return Buffer.from(open === 0 ? out + bytes.slice(done, end) : out, 'latin1').toString();
}

/**
 * Redacts secrets, in any encoding, from a response: searches each form in the text and in each layer of unescaping. For a
 * truncated text (`isCut`) also drops as much of the end as the longest form, since part of a secret is sensitive too.
 */
export function redactSecrets(secrets: Iterable<string>, text: string, isCut = false): string {
  const bytes = bytesOf(text);
  let reading = readingOf(bytes);
  let forms: ReadonlySet<string> = new Set([...secrets].flatMap(formsOf).map(bytesOf));
  const edges = new Int32Array(bytes.length + 1);
  let end = bytes.length;
  const mark = (at: number, by: number) => (edges[at] = (edges[at] as number) + by);
  for (let layer = 0; ; layer += 1) {
    for (const form of forms) {
      for (const at of findAll(form, reading.bytes)) {
        mark(reading.from[at] as number, 1);
        mark(reading.until[at + form.length - 1] as number, -1);
      }
    }
    if (isCut) end = Math.min(end, cutOf(reading, forms));
    const next = unescape(reading);
    if (layer === LAYERS || next.bytes === reading.bytes) return withoutHidden(bytes, edges, end);
    reading = next;
    forms = unescapedForms(forms);
  }
}
