/** Longer names are not compared: the cost grows with both lengths. */
const MAX_COMPARED_LENGTH = 64;

/** Returns the number of single-character edits between two words. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const swap = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, swap));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** Returns up to `count` known names, nearest first, of at most `maxEdits` single-character edits. */
export function nearest(name: string, known: readonly string[], count: number, maxEdits = Number.POSITIVE_INFINITY): string[] {
  if (name.length > MAX_COMPARED_LENGTH) return [];
  return known
    .map((key) => ({ key, edits: distance(name, key) }))
    .filter(({ edits }) => edits <= maxEdits)
    .sort((a, b) => a.edits - b.edits)
    .slice(0, count)
    .map(({ key }) => key);
}

/** Returns `; did you mean a, b or c?`, or an empty text without names. */
export function didYouMean(names: readonly string[]): string {
  if (names.length === 0) return '';
  const last = names.at(-1) as string;
  return `; did you mean ${names.length > 1 ? `${names.slice(0, -1).join(', ')} or ${last}` : last}?`;
}
