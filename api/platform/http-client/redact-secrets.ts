import { type Layer, listLayers, markForms, replaceMarked, SHORTEST_FORM } from './secret-layers.js';
import { toByteString } from './unescape.js';

/** Replaces a secret. */
const HIDDEN = '[secret]';
/** Maximum rest of a truncated escape. */
const CUT_ESCAPE = 16;

/** Returns the part of a base64 text containing `bytes` that does not depend on neighboring bytes, for each of three alignments. */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    // The last character that is not padding holds bits of what follows, unless the bytes fill their groups of three.
    const rest = (before + bytes.length) % 3;
    const inner = text.slice(before === 0 ? 0 : before + 1, rest === 0 ? undefined : rest - 4);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** Returns a secret's encodings: plain, quoted for a shell, and the usual codes. Escapes need no form, because unescape.ts decodes them. */
export function listForms(secret: string): string[] {
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
    // As a shell that traces its commands quotes it, and as Python does for a shell.
    secret.replaceAll("'", `'\\''`),
    secret.replaceAll("'", `'"'"'`),
    ...escaped,
    // The receiver may echo the body in base64. Most secrets need no escape, so these are few.
    ...Array.from(new Set([secret, inJson, ...escaped])).flatMap((form) => base64Forms(Buffer.from(form))),
    hex,
    hex.toUpperCase(),
    // Headers and bodies use different encodings, and a receiver may confuse them.
    Buffer.from(secret).toString('latin1'),
    Buffer.from(secret, 'latin1').toString(),
  ];
  return [secret, ...forms.filter((form) => form.length >= SHORTEST_FORM)].filter((form) => form !== '');
}

/** Returns where to drop the end of a truncated text: it may hold the beginning of a form and of an escape in it. */
function findCut({ reading: { bytes, from }, forms }: Layer): number {
  const longest = Math.max(0, ...[...forms].map(({ length }) => length));
  let at = Math.max(0, bytes.length - longest - CUT_ESCAPE);
  while (at > 0 && (bytes.charCodeAt(at) & 0xc0) === 0x80) at -= 1; // between two characters
  return from[at] ?? 0;
}

/**
 * Redacts secrets, in any encoding, from a response: searches each form in the text, in its joined lines and in each layer of unescaping. For a
 * truncated text (`isCut`) also drops as much of the end as the longest form, since part of a secret is sensitive too.
 */
export function redactSecrets(secrets: Iterable<string>, text: string, isCut = false): string {
  const bytes = toByteString(text);
  const edges = new Int32Array(bytes.length + 1);
  let end = bytes.length;
  for (const layer of listLayers([...secrets].flatMap(listForms), bytes)) {
    markForms(layer, edges);
    if (isCut) end = Math.min(end, findCut(layer));
  }
  return replaceMarked(bytes, edges, end, HIDDEN);
}
