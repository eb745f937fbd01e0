import type { BareClause, Part, Target } from '../clauses.js';
import { merge } from '../filter.js';
import { type Reading, wordsOf, writtenOf } from '../reading.js';
import { readSet } from '../sets/any-of.js';
import { readTarget } from '../target.js';
import type { TaskFilter } from '../terms.js';
import { getWord, startsWith } from '../words.js';
import type { Token } from '../tokens.js';
import { isPronoun, withTargets } from './targets.js';

/** Words that leave a part of what was said before: “only the urgent ones”, “except the website”. */

const ONLY = ['only', 'just', 'only do', 'only take', 'just do', 'just take', 'only for', 'just for'];
const WITHOUT = [
  'except',
  'except for',
  'without',
  'but not',
  'not',
  'not for',
  'leave out',
  'keep out',
  'exclude',
  'excluding',
  'skip',
  'minus',
  'apart from',
  'everything except',
  'everything but',
  'all except',
  'all but',
  'all of them except',
  'all of them but',
];
const HEADS = [
  ...ONLY.map((words) => ({ is: 'only' as const, words: words.split(' ') })),
  ...WITHOUT.map((words) => ({ is: 'without' as const, words: words.split(' ') })),
].toSorted((a, b) => b.words.length - a.words.length);
const MAX_TOKENS = 12;

/** The facts of a part, or what it names. */
function readWhich(reading: Reading, tokens: readonly Token[]): Pick<Part, 'filter'> | Pick<Part, 'target'> | undefined {
  const { filter, rest } = readSet(wordsOf(tokens), reading);
  if (rest.length === 0 && Object.keys(filter).length > 0) return { filter };
  const read = readTarget(reading, tokens);
  if (read?.target.kind === 'unknown') for (const words of read.target.names) reading.beyond?.want(words);
  return read?.isKnown && (read.target.kind === 'named' || read.target.kind === 'list') ? { target: read.target } : undefined;
}

/** Reads which part of what was said before is meant. */
export function readPart(reading: Reading, tokens: readonly Token[]): Part | undefined {
  const head = HEADS.find(({ words }) => startsWith(tokens, ...words));
  const rest = tokens.slice(head?.words.length ?? 0);
  // `leave the website out`
  const isOut = !head && startsWith(tokens, 'leave') && startsWith(tokens.slice(-1), 'out');
  const named = isOut ? tokens.slice(1, -1) : rest;
  if ((!head && !isOut) || named.length === 0 || named.length > MAX_TOKENS) return undefined;
  const which = readWhich(reading, named);
  return which && { ...which, is: head?.is ?? 'without', written: writtenOf(reading, named) };
}

/** Reads `not that one, the website`, and `the website instead of it`, as what is meant instead. */
export function readInstead(reading: Reading, tokens: readonly Token[]): Target | undefined {
  const isNot = startsWith(tokens, 'not') && ['that', 'this', 'it'].includes(getWord(tokens[1]));
  if (!isNot) return undefined;
  const at = tokens.findIndex(({ kind }, i) => i > 1 && (kind === 'comma' || getWord(tokens[i]) === 'but'));
  const named = tokens.slice(at + 1);
  const read = at > 0 && named.length > 0 ? readTarget(reading, named) : undefined;
  if (read?.target.kind === 'unknown') for (const words of read.target.names) reading.beyond?.want(words);
  return read?.isKnown && read.target.kind === 'named' ? read.target : undefined;
}

/** A question about the same tasks with more facts; undefined if no task can have both. */
function narrowed(filter: TaskFilter, { is, filter: more }: Part): TaskFilter | undefined {
  if (is !== 'only' || !more) return undefined;
  return more.statuses && filter.statuses ? { ...merge({ ...filter, statuses: more.statuses }, more) } : merge(filter, more);
}

/** The clauses before about the part that is meant; undefined if they have no set. */
export function ofPart(before: readonly BareClause[], part: Part): BareClause[] | undefined {
  const [first, ...others] = before;
  if (first?.does === 'ask' && others.length === 0) {
    const filter = narrowed(first.question.filter, part);
    return filter && [{ ...first, question: { ...first.question, filter } }];
  }
  let isChanged = false;
  const replace = (target: Target): Target => {
    if (isPronoun(target)) return target;
    isChanged = true;
    return { kind: 'part', of: target, part };
  };
  const changed = before.map((clause) =>
    'target' in clause && clause.does !== 'relate' ? withTargets(clause, replace) : clause,
  );
  return isChanged ? changed : undefined;
}
