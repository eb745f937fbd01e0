import type { BareClause, Clause } from '../clauses.js';
import { word } from '../creating/new-task.js';
import type { Reading } from '../reading.js';
import { readTarget } from '../target.js';
import type { Token } from '../tokens.js';
import { startsWith } from '../words.js';

/** Clauses that leave out what they do, because the one before says it: `and the crane wheels too`. */

/** Changes that may be repeated with something else. */
const REPEATED = new Set<Clause['does']>(
  'status assign unassign join priority step unprioritize due shift archive tag untag place delete'.split(
    ' ',
  ) as Clause['does'][],
);

/** The change that a message leaves to be repeated; null if it has several, undefined if it has none. */
export type Repeatable = BareClause | null | undefined;

const withoutTarget = (clause: BareClause): string => JSON.stringify({ ...clause, target: null, written: null });

/** What clauses leave to be repeated. */
export function repeatableOf(clauses: readonly BareClause[]): Repeatable {
  const changing = clauses.filter(({ does }) => does !== 'aside');
  const [first] = changing;
  if (!first || !changing.some(({ does }) => REPEATED.has(does))) return undefined;
  return changing.every((each) => REPEATED.has(each.does) && withoutTarget(each) === withoutTarget(first)) ? first : null;
}

const doubt = (text: string): BareClause => ({ does: 'doubt', text });
const WHICH_CHANGE = 'Which of the changes before do you mean? Write it out, as in “close …” or “give … to” and a name.';
const WHICH_ITEM = 'Which one do you mean? Write its title or its number.';

const HEADS: readonly (readonly string[])[] = ['do the same', 'the same goes', 'same goes', 'the same', 'same'].map((words) =>
  words.split(' '),
);

/** What a clause names beside the words for a repetition; undefined if it has none. */
function withoutMarks(tokens: readonly Token[]): readonly Token[] | undefined {
  const head = HEADS.find((words) => startsWith(tokens, ...words));
  const behind = head && tokens.slice(head.length);
  if (behind && ['for', 'with', 'to'].includes(word(behind, 0))) return behind.slice(1);
  // Politeness is gone from the end: `as well` is `as`.
  return tokens.length > 1 && ['too', 'as', 'likewise'].includes(word(tokens, tokens.length - 1))
    ? tokens.slice(0, -1)
    : undefined;
}

/** What `not the budget, I meant the website` means instead; undefined for other words. */
function readMeant(tokens: readonly Token[]): readonly Token[] | undefined {
  const at = tokens.findIndex(
    (_token, i) => ['i', 'we'].includes(word(tokens, i)) && ['meant', 'mean'].includes(word(tokens, i + 1)),
  );
  const isFirst = at === 0;
  if (at < 0 || (!isFirst && !['not', 'no'].includes(word(tokens, 0)))) return undefined;
  const behind = tokens.slice(at + 2);
  const not = behind.findIndex((_token, i) => i > 0 && word(behind, i) === 'not');
  const meant = not < 0 ? behind : behind.slice(0, not);
  return meant.at(-1)?.kind === 'comma' ? meant.slice(0, -1) : meant;
}

/** Whether a message goes on with the one before. */
const goesOn = (tokens: readonly Token[]): boolean => ['and', 'also', 'plus'].includes(word(tokens, 0));

/**
 * Reads a clause that names something and leaves out the change.
 * @param whole tokens of the whole message, if the clause is all of it and asks nothing
 * @param read reads a clause that says what it does
 */
export function readEllipsis(
  reading: Reading,
  tokens: readonly Token[],
  {
    before,
    whole,
    read,
  }: { before: Repeatable; whole: readonly Token[]; read: (rest: readonly Token[]) => BareClause | undefined },
): BareClause | undefined {
  const meant = before === undefined ? undefined : readMeant(tokens);
  if (meant) {
    const instead = readTarget(reading, meant)?.target;
    const isOne = before && 'target' in before && (before.target?.kind === 'named' || before.target?.kind === 'unknown');
    if (!isOne || (instead?.kind !== 'named' && instead?.kind !== 'unknown')) return doubt(WHICH_CHANGE);
    return { ...before, target: instead, replaces: true } as BareClause;
  }
  const marked = withoutMarks(tokens);
  // `close it too` says what it does.
  const said = marked && read(marked);
  if (said || before === undefined || !(marked ?? goesOn(whole))) return said;
  const found = readTarget(reading, marked ?? tokens);
  if (!found || (!found.isKnown && !marked)) return undefined;
  if (before === null) return doubt(WHICH_CHANGE);
  if (found.target.kind === 'it' || found.target.kind === 'them') return doubt(WHICH_ITEM);
  return { ...before, target: found.target } as BareClause;
}
