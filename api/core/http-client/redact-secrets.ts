import { findAll } from './find-all.js';
import { bytesOf, type Reading, readingOf, unescape } from './unescape.js';

/** Stands where a secret was. */
const HIDDEN = '[secret]';
/** A shorter form would hide half of any text and tell nothing. */
const SHORTEST_FORM = 4;
/** How many escapes are read that stand in one another, such as JSON in HTML in an address. */
const LAYERS = 6;
/** What may be left of an escape that was cut in two. */
const CUT_ESCAPE = 16;

/** The inside of a base64 text that holds `bytes` somewhere: what does not depend on its neighbours, for each of three positions. */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const inner = text.slice(before === 0 ? 0 : before + 1, (before + bytes.length) % 3 === 0 ? undefined : -1);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** How a secret may come back: as it is, or as one of the usual codes writes it. Escapes need no form, they are read (unescape.ts). */
function formsOf(secret: string): string[] {
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
    // A body that was echoed in base64 holds it as the body did.
    ...[secret, inJson, ...escaped].flatMap((form) => base64Forms(Buffer.from(form))),
    hex,
    hex.toUpperCase(),
    // A header goes out in one encoding, a body in another, and a receiver may take either for the other.
    Buffer.from(secret).toString('latin1'),
    Buffer.from(secret, 'latin1').toString(),
  ];
  return [secret, ...forms.filter((form) => form.length >= SHORTEST_FORM)].filter((form) => form !== '');
}

/** The forms as a text holds them from which one more layer of escapes was read. */
function unescapedForms(forms: ReadonlySet<string>): Set<string> {
  const read = [...forms].map((form) => unescape(readingOf(form)).bytes);
  return new Set(read.filter((form) => form.length >= SHORTEST_FORM || forms.has(form)));
}

/** Where the end of a text that was cut begins to be left out: it may hold the beginning of a form, and of an escape in it. */
function cutOf({ bytes, from }: Reading, forms: ReadonlySet<string>): number {
  const longest = Math.max(0, ...[...forms].map(({ length }) => length));
  let at = Math.max(0, bytes.length - longest - CUT_ESCAPE);
  while (at > 0 && (bytes.charCodeAt(at) & 0xc0) === 0x80) at -= 1; // between two characters
  return from[at] ?? 0;
}

/** `edges`: how many hidden stretches begin at each byte, less those that end there. */
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
 * Takes what was secret in a request out of what came back for it, however the other side wrote it: every form is looked for in the text
 * as it is, and in what reading its escapes makes of it, layer by layer. Of a text that was cut (`isCut`) the end is left out, as long as
 * the longest form is: half a secret is one too. Source: T-SECRET.
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
