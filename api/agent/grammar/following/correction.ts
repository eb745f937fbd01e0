import { beginsTask } from '../creating/create.js';
import type { Token } from '../tokens.js';
import { getWord } from '../words.js';

/** Words that take back what stands before them. */
const ALONE = new Set(['actually', 'oops', 'sorry']);
const BEFORE_COMMA = new Set(['no', 'wait', 'oh', 'hm', 'hmm', 'well', 'stop']);

/** Whether a correction begins with a token: `actually`, or `no,` and `wait,`. */
export function isCorrection(tokens: readonly Token[], at: number): boolean {
  const word = getWord(tokens[at]);
  if (ALONE.has(word)) return true;
  const next = tokens[at + 1];
  return BEFORE_COMMA.has(word) && (next?.kind === 'comma' || BEFORE_COMMA.has(getWord(next)) || ALONE.has(getWord(next)));
}

export const WHAT_CHANGES = 'Do you take back what stands before? Write only what shall change.';

/** The first clause of a message without `instead` at its end, behind which nothing of the message is meant. */
export const withoutInstead = (clause: readonly Token[]): readonly Token[] =>
  clause.length > 1 && getWord(clause.at(-1)) === 'instead' && !beginsTask(clause) ? clause.slice(0, -1) : clause;
