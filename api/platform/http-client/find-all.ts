/** Prefix length of the quick check that most texts fail. */
const PROBE = 16;

/** Returns, for each prefix of `form`, the length of its longest proper suffix that is also a prefix. */
function findBorders(form: string): Uint32Array {
  const borders = new Uint32Array(form.length);
  for (let at = 1, length = 0; at < form.length; at += 1) {
    while (length > 0 && form.charCodeAt(at) !== form.charCodeAt(length)) length = borders[length - 1] as number;
    if (form.charCodeAt(at) === form.charCodeAt(length)) length += 1;
    borders[at] = length;
  }
  return borders;
}

/**
 * Yields every position of `form` (not empty) in `text`, overlaps included. Linear in both lengths for any input (Knuth, Morris and
 * Pratt), because both are untrusted.
 */
export function* findAll(form: string, text: string): Generator<number> {
  if (!text.includes(form.slice(0, PROBE))) return;
  const borders = findBorders(form);
  for (let at = 0, length = 0; at < text.length; at += 1) {
    while (length > 0 && text.charCodeAt(at) !== form.charCodeAt(length)) length = borders[length - 1] as number;
    if (text.charCodeAt(at) === form.charCodeAt(length)) length += 1;
    if (length < form.length) continue;
    yield at + 1 - length;
    length = borders[length - 1] as number;
  }
}

/**
 * Returns where the earliest beginning of `form` starts that ends at `known` or behind it and may go on; the length of `text` if there is
 * none. `known`: what follows there may still turn into something else. Linear in both lengths.
 */
export function openStart(form: string, text: string, known: number): number {
  const earliest = Math.max(0, known - form.length + 1);
  // A longer beginning would hold the probe.
  const isLong = text.includes(form.slice(0, PROBE), earliest);
  const first = isLong ? earliest : Math.max(earliest, known - PROBE + 1);
  const head = form.slice(0, text.length - first + 1);
  const borders = findBorders(head);
  for (let at = first, length = 0; at <= text.length; at += 1) {
    if (at >= known && length > 0) return at - length;
    while (length > 0 && text.charCodeAt(at) !== head.charCodeAt(length)) length = borders[length - 1] as number;
    if (text.charCodeAt(at) === head.charCodeAt(length)) length += 1;
    if (length === head.length) length = borders[length - 1] as number;
  }
  return text.length;
}
