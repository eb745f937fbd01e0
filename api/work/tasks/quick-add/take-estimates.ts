/** `3pt`, with a mark of the sentence behind it. */
const TOGETHER = /^(\d{1,6})(?:pts?|points?)[.,;:!?)]*$/i;
const NUMBER = /^\d{1,6}$/;
const UNIT = /^(?:pts?|points?)[.,;:!?)]*$/i;
/** Words that do not go on with a title: `3 points` before others is part of it, as in "Agree on 3 points of the plan". */
const FOLLOWS = /^(?:[@#!].+|due|every|each|today|tomorrow)$/i;
/** Words before points that are part of the title: "Win by 3 points". */
const NEEDS_POINTS = /^(?:a|about|all|at|by|each|every|for|from|in|like|of|on|than|the|these|to|with)$/i;

/** Returns the words of a line without those that say how large the task is, and what these say. A backslash keeps a word. */
export function takeEstimates(words: readonly string[]): { left: string[]; estimates: number[] } {
  const [left, estimates]: [string[], number[]] = [[], []];
  for (let at = 0; at < words.length; at += 1) {
    const [word = '', unit = '', after] = [words[at], words[at + 1], words[at + 2]];
    const [, together] = TOGETHER.exec(word) ?? [];
    const isApart =
      NUMBER.test(word) &&
      UNIT.test(unit) &&
      !NEEDS_POINTS.test(left.at(-1) ?? '') &&
      (after === undefined || FOLLOWS.test(after) || TOGETHER.test(after));
    if (together === undefined && !isApart) left.push(word);
    else estimates.push(Number(together ?? word));
    if (isApart) at += 1;
  }
  return { left, estimates };
}
