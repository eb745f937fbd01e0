import { readDate } from '../../platform/written-days.js';
import type { BareClause } from './clauses.js';
import { type Reading, wordsOf, writtenOf } from './reading.js';
import { quote } from './doubts/naming.js';
import type { Token } from './tokens.js';
import { getWord, VERBS } from './words.js';

/** Changes that are asked for later, or under a condition: a plan is performed when it is confirmed, so neither is possible. */

const MAX_TIME = 5;
const CONDITIONS = new Set(['once', 'when', 'whenever', 'if', 'unless', 'after', 'as']);
/** What a time may be added to; a date is a part of the others. */
const AT_ONCE = new Set<BareClause['does']>([
  ...([
    'status',
    'assign',
    'unassign',
    'join',
    'priority',
    'step',
    'unprioritize',
    'delete',
    'archive',
    'tag',
    'untag',
    'place',
  ] as const),
  ...(['rename', 'unblock', 'relate'] as const),
]);

/** Whether a clause is a condition of the next one: `when the budget is done, …`. */
export const isCondition = (tokens: readonly Token[]): boolean =>
  CONDITIONS.has(getWord(tokens[0])) && !(getWord(tokens[0]) === 'as' && getWord(tokens[1]) !== 'soon');
export const NO_CONDITION =
  'I cannot wait for something: what I propose is done once you confirm it. Write the change without its condition to do it now.';

const CLOCK =
  /^(later|(at )?(noon|midnight|\d{1,2}(:\d\d)?( ?(am|pm|o'clock))?)|in (an|one|two|\d+) (hours?|minutes?)|this (morning|afternoon|evening)|tonight)$/;

/** Returns the date that words are, or null for another time; undefined if they are no time. */
function readTime(words: readonly string[], today: string): string | null | undefined {
  if (words.length === 0) return undefined;
  const day = readDate(words, today);
  if (typeof day === 'object') return day.date ?? undefined;
  return day === undefined && !CLOCK.test(words.join(' ')) ? undefined : null;
}

/** What to write instead. */
function doubt(reading: Reading, rest: readonly Token[], clause: BareClause, date: string | null): BareClause | undefined {
  if (!AT_ONCE.has(clause.does)) return undefined;
  const target = 'target' in clause && clause.target?.kind === 'named' ? clause.target.written : 'it';
  const due = date === null ? '' : `, or “set the due date of ${target} to ${date}”`;
  const text = `I cannot do that later or wait for something: what I propose is done once you confirm it. Write ${quote(writtenOf(reading, rest))} to do it now${due}.`;
  return { does: 'doubt', text };
}

/**
 * Reads a change with a time or a condition, as a question whether it shall be now.
 * @param read reads a clause without them
 */
export function readLater(
  reading: Reading,
  tokens: readonly Token[],
  read: (tokens: readonly Token[]) => BareClause | undefined,
): BareClause | undefined {
  const tries: { rest: readonly Token[]; date: string | null }[] = [];
  for (let length = Math.min(MAX_TIME, tokens.length - 1); length > 0; length -= 1) {
    const behind = readTime(wordsOf(tokens.slice(-length)), reading.today);
    if (behind !== undefined) tries.push({ rest: tokens.slice(0, -length), date: behind });
    const before = readTime(wordsOf(tokens.slice(0, length)), reading.today);
    if (before !== undefined) tries.push({ rest: tokens.slice(length), date: before });
  }
  const condition = tokens.findIndex((token, at) => at > 1 && token.kind === 'word' && CONDITIONS.has(token.text));
  if (condition > 0 && VERBS.has(getWord(tokens[0]))) tries.push({ rest: tokens.slice(0, condition), date: null });
  for (const { rest, date } of tries) {
    const clause = read(rest);
    const found = clause && doubt(reading, rest, clause, date);
    if (found) return found;
  }
  return undefined;
}
