import { beginsTask } from '../creating/create.js';
import { word } from '../creating/new-task.js';
import { type Reading, wordsOf } from '../reading.js';
import { readPerson } from '../referents.js';
import type { Token } from '../tokens.js';

const INSTEAD_OF = new Set(['instead of', 'rather than']);
/** Words that take back what stands before them. */
const ALONE = new Set(['actually', 'oops', 'sorry']);
const BEFORE_COMMA = new Set(['no', 'wait', 'oh', 'hm', 'hmm', 'well', 'stop']);

/** Whether a correction begins with a token: `actually`, or `no,` and `wait,`. */
export function isCorrection(tokens: readonly Token[], at: number): boolean {
  const [first, next] = [word(tokens, at), word(tokens, at + 1)];
  return (
    ALONE.has(first) ||
    (BEFORE_COMMA.has(first) && (tokens[at + 1]?.kind === 'comma' || BEFORE_COMMA.has(next) || ALONE.has(next)))
  );
}

export const WHAT_CHANGES = 'Do you take back what stands before? Write only what shall change.';

/** A clause without `instead of Uma` at its end: who had it before changes nothing. */
export function withoutReplaced(reading: Reading, clause: readonly Token[]): readonly Token[] {
  const at = clause.findLastIndex((_token, i) => INSTEAD_OF.has(`${word(clause, i)} ${word(clause, i + 1)}`));
  const isPerson = at > 1 && readPerson(reading, wordsOf(clause.slice(at + 2)))?.isKnown === true;
  return isPerson && !beginsTask(clause) ? clause.slice(0, at) : clause;
}

/** The first clause of a message without `instead` at its end, behind which nothing of the message is meant. */
export const withoutInstead = (clause: readonly Token[]): readonly Token[] =>
  clause.length > 1 && word(clause, clause.length - 1) === 'instead' && !beginsTask(clause) ? clause.slice(0, -1) : clause;
