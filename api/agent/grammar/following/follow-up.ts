import type { BareClause, Clause } from '../clauses.js';
import { SAME } from '../forms/form.js';
import { type Reading, wordsOf } from '../reading.js';
import type { NamedItem, Token } from '../tokens.js';
import { getWord } from '../words.js';
import { readChoice } from './choice.js';
import { kindOf, readValues, whichChange, withValue } from './fragment.js';
import { ofPart, readInstead, readPart } from './part.js';
import { isPronoun, withTargets } from './targets.js';

/** Messages that go on with the one before: they answer our question, or change the plan that it staged. */

/** What the answer to a message was. */
export interface Answered {
  /**
   * Its plan: `staged` waits, or waited until the next message replaced it; `applied` was confirmed; `closed` was discarded or has expired; `edited` has a
   * copy that a person made. Null for none.
   */
  plan: 'staged' | 'applied' | 'closed' | 'edited' | null;
  /** The items that it names, in their order. */
  named: readonly NamedItem[];
}
/** The message before, with its answer. */
export interface Previous {
  clauses: readonly Clause[];
  answered: Answered;
}

const LEADING = new Set(
  'no nope sorry actually wait oh hm hmm rather better well and also but ok okay please then yes maybe oops'.split(' '),
);
const TRAILING = new Set('instead please thanks too rather actually then'.split(' '));
const LEAVE =
  /^(?:(?:no|nope|ok|okay|sorry|please|actually|wait|oh|stop) )*(?:leave (?:it|them|that|everything)(?: alone| open| be| as (?:it is|they are|is))?|never ?mind|nevermind|forget (?:it|that|about it|this)|(?:discard|drop|scrap|cancel|throw away) (?:the|that|this|your) (?:plan|proposal|change|changes)|discard (?:it|that|them)|stop|do not(?: do (?:it|that|this|anything))?|rather not|better not|no|nope|no thanks|no thank you|not now)$/;
const CANCEL = /^(?:(?:no|nope|please|actually|wait) )*(?:cancel|drop|scrap|abort) (?:it|that|this|them)$/;
const CONFIRM =
  /^(?:(?:yes|yeah|yep|ok|okay|please|great|perfect|good) ?)*(?:confirm(?: (?:it|that|this|the plan|them|all))?|do (?:it|that|so)|go ahead|go for it|make it so|apply (?:it|that|the plan)|looks good|sounds good|that is (?:right|fine|good|correct)|approved?|approve (?:it|the plan)|perform (?:it|the plan)|execute (?:it|the plan))?$/;
const BY_BUTTON = 'I never confirm a plan myself. Look at it, and choose “Confirm” there.';
const PLAN_OR_TASK = 'Do you mean the plan, or the task? Write “discard the plan”, or “cancel” and the name of the task.';
const MAX_TOKENS = 24;

/** Clauses whose change would be made twice, if a message repeated it. */
const ONCE = new Set<BareClause['does']>([
  'create',
  'subtasks',
  'note',
  'comment',
  'relate',
  'rename',
  'delete',
  'place',
  'tag',
  'untag',
  'describe',
]);
const CHANGES = new Set<BareClause['does']>([
  ...ONCE,
  ...([
    'status',
    'assign',
    'unassign',
    'join',
    'priority',
    'step',
    'unprioritize',
    'due',
    'shift',
    'estimate',
    'archive',
    'incomplete',
    'swap',
  ] as const),
]);
const isChange = ({ does }: BareClause): boolean => CHANGES.has(does);
const telling = (clauses: readonly Clause[]): readonly Clause[] => clauses.filter(({ does }) => does !== 'aside');

/** The words of a message without those around what it says; undefined for one that is too long, or has several sentences. */
function coreOf(tokens: readonly Token[]): { core: readonly Token[]; isAdding: boolean } | undefined {
  let [start, end] = [0, tokens.length];
  const isMark = (token: Token | undefined): boolean =>
    token?.kind === 'stop' || token?.kind === 'comma' || token?.kind === 'newline';
  while (end > 0 && (isMark(tokens[end - 1]) || TRAILING.has(getWord(tokens[end - 1])))) end -= 1;
  while (start < end && (isMark(tokens[start]) || LEADING.has(getWord(tokens[start])))) start += 1;
  const core = tokens.slice(start, end);
  const isWhole =
    core.length > 0 && core.length <= MAX_TOKENS && !core.some(({ kind }) => ['stop', 'newline', 'semicolon'].includes(kind));
  const isAdding = tokens.slice(0, start).some((token) => ['and', 'also'].includes(getWord(token)));
  return isWhole ? { core, isAdding } : undefined;
}

/** Clauses that go on with those before, and stand instead of the plan of these, if it waits. */
const following = (clauses: readonly BareClause[], written: string, { plan }: Answered): Clause[] =>
  clauses.map((clause) => ({ written, ...clause, follows: true, ...(plan === 'staged' && { replaces: true }) }) as Clause);
const doubt = (text: string, written: string): Clause[] => [{ does: 'doubt', text, written, follows: true }];

/** Words that decide about the plan as a whole. */
function readDecision(said: string, written: string): Clause[] | undefined {
  if (LEAVE.test(said)) return [{ does: 'discard', written }];
  if (CANCEL.test(said)) return doubt(PLAN_OR_TASK, written);
  return said !== '' && CONFIRM.test(said) ? doubt(BY_BUTTON, written) : undefined;
}

/** Values and parts of what was said before. */
function readChanged(
  reading: Reading,
  { core, isAdding }: { core: readonly Token[]; isAdding: boolean },
  before: readonly Clause[],
  { plan }: Answered,
): readonly BareClause[] | undefined {
  const isAsked = before.length === 1 && before[0]?.does === 'ask';
  const instead = plan !== null && before.length === 1 ? readInstead(reading, core) : undefined;
  if (instead) return before.map((clause) => withTargets(clause, () => instead));
  const part = isAsked || (plan !== null && plan !== 'applied') ? readPart(reading, core) : undefined;
  if (part) return ofPart(before, part);
  const values = isAsked || before.every(isChange) ? readValues(reading, core) : undefined;
  if (!values) return undefined;
  if (isAsked) return ofPerson(before[0] as BareClause, values);
  if (plan === 'applied') {
    // What was confirmed is done: only what shall be otherwise is changed again.
    const kept = before.filter(({ does }) => !ONCE.has(does));
    const found = isAdding || kept.length < before.length ? undefined : withEach(kept, values, false);
    return found?.filter((clause) => clause.does === 'doubt' || values.some(({ kind }) => kindOf(clause) === kind));
  }
  return withEach(before, values, plan !== null);
}

/** A question about another person's tasks. */
function ofPerson(asked: BareClause, values: NonNullable<ReturnType<typeof readValues>>): BareClause[] | undefined {
  const [built, ...others] = values.map(({ build }) => build(SAME));
  if (asked.does !== 'ask' || built?.does !== 'assign' || others.length > 0) return undefined;
  return [{ ...asked, question: { ...asked.question, filter: { ...asked.question.filter, assignee: built.to } } }];
}

function withEach(
  before: readonly BareClause[],
  values: NonNullable<ReturnType<typeof readValues>>,
  mayAdd: boolean,
): BareClause[] | undefined {
  let changed: BareClause[] | undefined = [...before];
  for (const value of values) changed = changed && withValue(changed, value, mayAdd);
  return changed?.find(({ does }) => does === 'doubt') ? [whichChange] : changed;
}

/**
 * Reads a message that is nothing without the one before.
 * @returns the clauses of both, or undefined for a message of its own
 */
export function readFollowUp(reading: Reading, { clauses, answered }: Previous): Clause[] | undefined {
  const { tokens, written } = reading.message;
  const before = telling(clauses);
  if (before.length === 0 || answered.plan === 'edited' || tokens.length > 2 * MAX_TOKENS) return undefined;
  const whole = written(tokens[0]?.start ?? 0, tokens.at(-1)?.end ?? 0);
  const said = wordsOf(tokens.filter(({ kind }) => kind !== 'stop')).join(' ');
  const decided = answered.plan === 'staged' ? readDecision(said, whole) : undefined;
  if (decided) return decided;
  const core = coreOf(tokens);
  const isAnswer = answered.plan === null && answered.named.length > 0;
  const choice = isAnswer ? readChoice(reading, core?.core ?? tokens, before, answered.named) : undefined;
  if (choice) return following(choice, whole, answered);
  const changed = core && readChanged(reading, core, before, answered);
  return changed && following(changed, whole, answered);
}

/** Most tasks of a list that a message may mean together: a longer one shows not all. */
const MAX_LISTED = 19;

/** The tasks that the answer before lists, if that is a question's, and shows all of them. */
export const listedBy = (previous: Previous | undefined): readonly NamedItem[] => {
  const isList = previous?.clauses.some(({ does }) => does === 'ask') === true && previous.answered.plan === null;
  const named = isList ? previous.answered.named : [];
  return named.length > MAX_LISTED ? [] : named;
};

/** Whether a clause says what shall be with what the message before was about. */
const goesOn = (clause: Clause): boolean =>
  isChange(clause) && 'target' in clause && clause.target != null && isPronoun(clause.target) && clause.does !== 'relate';

/**
 * Joins a message about “it” with the plan that waits, so that one plan says both: `make it high instead`, `and assign it to Mia`.
 * @param isInstead whether its words take back what stands before
 */
export function joinWaiting(clauses: Clause[], { clauses: earlier, answered }: Previous, isInstead: boolean): Clause[] {
  const before = telling(earlier);
  const own = telling(clauses);
  const isJoined =
    answered.plan === 'staged' &&
    own.length > 0 &&
    own.every(goesOn) &&
    before.every((clause) => isChange(clause) && clause.does !== 'subtasks');
  if (!isJoined) return clauses;
  let joined: BareClause[] = [...before];
  for (const clause of own) {
    const kind = kindOf(clause);
    const same = joined.filter((each) => kind !== undefined && kindOf(each) === kind);
    const [one] = same;
    if (same.length > 1 || (isInstead && !one && joined.length > 1))
      return [{ ...whichChange, written: clause.written } as Clause];
    const target = one && 'target' in one ? one.target : undefined;
    if (one && target) joined = joined.map((each) => (each === one ? ({ ...clause, target } as BareClause) : each));
    else if (clause.does === 'delete' || isInstead) {
      const [first] = joined;
      if (!first || !('target' in first) || !first.target) return clauses;
      joined = [{ ...clause, target: first.target } as BareClause];
    } else joined.push(clause);
  }
  return following(joined, clauses[0]?.written ?? '', answered);
}
