/** Characters by which most texts are told from one that holds the form at all. */
const PROBE = 16;

/** For each beginning of `form` the length of its longest end that is a beginning as well. */
function bordersOf(form: string): Uint32Array {
  const borders = new Uint32Array(form.length);
  for (let at = 1, length = 0; at < form.length; at += 1) {
    while (length > 0 && form.charCodeAt(at) !== form.charCodeAt(length)) length = borders[length - 1] as number;
    if (form.charCodeAt(at) === form.charCodeAt(length)) length += 1;
    borders[at] = length;
  }
  return borders;
}

/**
 * Where `form`, which is not empty, begins in `text`, overlaps too. The time grows with both lengths and with nothing else, whatever
 * they hold (Knuth, Morris and Pratt): both were written by others.
 */
export function* findAll(form: string, text: string): Generator<number> {
  if (!text.includes(form.slice(0, PROBE))) return;
  const borders = bordersOf(form);
  for (let at = 0, length = 0; at < text.length; at += 1) {
    while (length > 0 && text.charCodeAt(at) !== form.charCodeAt(length)) length = borders[length - 1] as number;
    if (text.charCodeAt(at) === form.charCodeAt(length)) length += 1;
    if (length < form.length) continue;
    yield at + 1 - length;
    length = borders[length - 1] as number;
  }
}
