import { diffWordsWithSpace } from 'diff';

/** A run of words of two texts: in both, or only in the old or the new one. */
export interface TextPart {
  text: string;
  change: 'same' | 'removed' | 'added';
}

/** Compares two texts; null if that would cost too much, or they have too little in common to be read side by side. */
export type WordDiff = (before: string, after: string) => TextPart[] | null;

/** Length of each text, in characters; and words, blanks and marks that may differ. The most expensive pair takes 3 ms. */
const MAX_LENGTH = 4_000;
const MAX_EDITS = 200;
/** Comparisons of one page, which is read again every few seconds. */
const MAX_COMPARISONS = 25;

/** Returns the comparison for one page: after `limit` pairs it compares no more. */
export function wordDiff(limit = MAX_COMPARISONS): WordDiff {
  let left = limit;
  return (before, after) => {
    if (left === 0 || before.length > MAX_LENGTH || after.length > MAX_LENGTH) return null;
    left -= 1;
    const found = diffWordsWithSpace(before, after, { maxEditLength: MAX_EDITS });
    return (
      found?.map(({ value, added, removed }) => ({ text: value, change: added ? 'added' : removed ? 'removed' : 'same' })) ?? null
    );
  };
}
