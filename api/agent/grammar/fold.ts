/**
 * A text as the grammar compares it: compatibility forms replaced (NFKC), lower case, blanks collapsed. `at[i]` is where its character i
 * comes from in the original; the last entry is the original's length.
 */
export interface Folded {
  text: string;
  at: readonly number[];
}

const MARK = /^\p{M}$/u;
const WORD = /^[\p{L}\p{N}\p{M}_]$/u;
const NEWLINES = new Set(['\n', '\v', '\f', '\u0085', '\u2028', '\u2029']);

/** Combining characters belong to the one before them: marks, and the later letters of a Korean syllable. */
const isCombining = (char: string): boolean => char > '\u02ff' && ((char >= '\u1160' && char <= '\u11ff') || MARK.test(char));

/** Returns whether a character is part of words: a letter, digit, mark or underscore. */
export const isWordChar = (char: string): boolean =>
  char < '\u0080' ? (char >= 'a' && char <= 'z') || (char >= '0' && char <= '9') || char === '_' : WORD.test(char);

function foldCluster(cluster: string): string {
  if (NEWLINES.has(cluster)) return '\n';
  // Most characters are plain ones, and this is asked for each.
  if (cluster.length === 1 && cluster >= '!' && cluster <= '~') return cluster.toLowerCase();
  const plain = cluster.normalize('NFKC').toLowerCase();
  return plain.trim() === '' ? ' ' : plain;
}

/** Folds a text, cluster by cluster, so that titles and messages fold alike wherever a title stands in a message. */
export function fold(original: string): Folded {
  let text = '';
  const at: number[] = [];
  let cluster = '';
  let start = 0;
  const close = (): void => {
    const folded = cluster === '' ? '' : foldCluster(cluster);
    if (folded === ' ' && text.endsWith(' ')) return;
    text += folded;
    for (let i = 0; i < folded.length; i += 1) at.push(start);
  };
  let offset = 0;
  for (const char of original) {
    if (!isCombining(char)) {
      close();
      cluster = '';
      start = offset;
    }
    cluster += char;
    offset += char.length;
  }
  close();
  at.push(original.length);
  return { text, at };
}

/** Folds a name: a title, an id, or a name of a user. */
export const foldName = (name: string): string => fold(name.trim()).text.trim();
