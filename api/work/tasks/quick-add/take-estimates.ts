/** `3pt`, with a mark of the sentence behind it. */
const TOGETHER = /^(\d{1,6})(?:pts?|points?)[.,;:!?)]*$/i;
const NUMBER = /^\d{1,6}$/;
const UNIT = /^(?:pts?|points?)[.,;:!?)]*$/i;
/** Before a number: `est 3`, `estimate: 3 points`. */
const ESTIMATE = /^(?:est|estimate):?$/i;
/** Words that do not go on with a title: `3 points` before others is part of it, as in "Agree on 3 points of the plan". */
const FOLLOWS = /^(?:[@#!].+|due|every|each|today|tomorrow)$/i;
/** Words before points that are part of the title: "Win by 3 points". */
const NEEDS_POINTS = /^(?:a|about|all|at|by|each|every|for|from|in|like|of|on|than|the|these|to|with)$/i;

/** Says whether words end a line otherwise, as a day does. */
type Closes = (words: readonly string[]) => boolean;

/** Returns the points that some words say, the first ones of the rest of a line, and how many say them; undefined for a word of the title. */
function readPoints(
  [word = '', next = '', ...rest]: readonly string[],
  before: string | undefined,
  closes: Closes,
): [points: number, words: number] | undefined {
  const ends = ([after]: readonly string[]): boolean =>
    after === undefined || FOLLOWS.test(after) || TOGETHER.test(after) || closes(rest);
  const [, together] = TOGETHER.exec(word) ?? [];
  if (together !== undefined) return [Number(together), 1];
  if (NUMBER.test(word) && UNIT.test(next) && !NEEDS_POINTS.test(before ?? '') && ends(rest)) return [Number(word), 2];
  if (before === undefined || !ESTIMATE.test(word) || ESTIMATE.test(next)) return undefined;
  if (NUMBER.test(next) && ends(rest)) return [Number(next), 2];
  const [points, words] = readPoints([next, ...rest], word, closes) ?? [];
  return points === undefined || words === undefined ? undefined : [points, words + 1];
}

/** What points begin with. */
const BEGINS_POINTS = /^(?:\d|est)/i;

/**
 * Returns the words of a line without those that say how large the task is, and what these say. A backslash keeps a word. `closes`: whether words
 * behind points end the line, as a day does.
 */
export function takeEstimates(words: readonly string[], closes: Closes): { left: string[]; estimates: number[] } {
  const [left, estimates]: [string[], number[]] = [[], []];
  for (let at = 0; at < words.length; ) {
    const word = words[at] as string;
    const [points, taken] = (BEGINS_POINTS.test(word) && readPoints(words.slice(at), left.at(-1), closes)) || [];
    if (points === undefined) left.push(word);
    else estimates.push(points);
    at += taken ?? 1;
  }
  return { left, estimates };
}
