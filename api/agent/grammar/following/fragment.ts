import type { BareClause, NewTask, Target } from '../clauses.js';
import { SAME } from '../forms/form.js';
import { Matcher, type Pattern, pattern, type Slots } from '../pattern.js';
import { type Reading, splitList } from '../reading.js';
import type { Token } from '../tokens.js';
import { isPronoun } from './targets.js';

/** Words that say one value of what was said before: “to Mia”, “by Friday”, “high”. */

/** What a value is of. */
type Kind = 'person' | 'date' | 'priority' | 'status';
/** `isBare`: it has no word that says what it is of, so that it only replaces another one. */
type Value = { kind: Kind; build: (target: Target) => BareClause; isBare?: boolean };

const KIND_OF: Readonly<Partial<Record<BareClause['does'], Kind>>> = {
  assign: 'person',
  unassign: 'person',
  join: 'person',
  due: 'date',
  shift: 'date',
  priority: 'priority',
  step: 'priority',
  unprioritize: 'priority',
  status: 'status',
};
/** What a clause changes, if one value says it. */
export const kindOf = (clause: BareClause): Kind | undefined =>
  clause.does === 'incomplete' ? clause.lacks : KIND_OF[clause.does];

const patterns = (...texts: string[]): Pattern[] => texts.map(pattern);
const READERS: readonly (readonly [patterns: readonly Pattern[], read: (slots: Slots) => Value])[] = [
  [
    patterns(
      'D',
      'by|for D',
      'due|deadline|until|till|to|on|before is? by|on|to|until|for|before? D',
      'make|set it|that|this? due? on|to|by|for? D',
    ),
    ({ D }) => ({ kind: 'date', build: (target) => ({ does: 'due', target, date: D }) }),
  ],
  [
    patterns('N', 'by N', 'N later|more|longer', 'make it|that|this N later?'),
    ({ N }) => ({ kind: 'date', build: (target) => ({ does: 'shift', target, by: N }) }),
  ],
  [
    patterns('R', 'to|as|at|with? a? R', 'priority R', 'make|set that|this|priority to? R'),
    ({ R }) => ({ kind: 'priority', build: (target) => ({ does: 'priority', target, priority: R }) }),
  ],
  [
    patterns('P', 'to|for|by|with? P', 'give|assign|hand to P', 'not P but to? P', 'to? P not P', 'make it|that|this P'),
    ({ P }) => ({ kind: 'person', build: (target) => ({ does: 'assign', target, to: P }) }),
  ],
  [patterns('to|into|in|as S'), ({ S }) => ({ kind: 'status', build: (target) => ({ does: 'status', target, status: S }) })],
];
const MAX_TOKENS = 16;

function readValue(reading: Reading, tokens: readonly Token[]): Value | undefined {
  const matcher = new Matcher(reading, tokens);
  for (const [list, read] of READERS)
    for (const each of list) {
      const slots = matcher.match(each, 'all');
      if (slots) return { ...read(slots as Slots), isBare: each.elements.length === 1 };
    }
  return undefined;
}

/** Reads words that are nothing but values; undefined for other words. */
export function readValues(reading: Reading, tokens: readonly Token[]): Value[] | undefined {
  if (tokens.length === 0 || tokens.length > MAX_TOKENS) return undefined;
  const parts = splitList(tokens);
  const values = parts.flatMap((part) => readValue(reading, part) ?? []);
  return values.length === parts.length && values.length > 0 ? values : undefined;
}

const WHICH_CHANGE = 'Which of the changes before do you mean? Write it out, as in “move … to Friday” or “give … to” and a name.';
export const whichChange: BareClause = { does: 'doubt', text: WHICH_CHANGE };

/** How many different things clauses are about. */
const subjectsIn = (clauses: readonly BareClause[]): number =>
  clauses.filter((clause) => !('target' in clause) || !clause.target || !isPronoun(clause.target)).length;

/** A new task with another value instead of one that it was given. */
function ofNew(task: NewTask, built: BareClause): NewTask | undefined {
  if (built.does === 'assign' && task.to) return { ...task, to: built.to };
  if (built.does === 'due' && task.due) return { ...task, due: built.date };
  return built.does === 'priority' && task.priority ? { ...task, priority: built.priority } : undefined;
}

/**
 * Puts a value into the clause that has one of its kind, or adds it to what they are about.
 * @param mayAdd whether one of another kind goes on with the change
 * @returns undefined if none has one of its kind; a question if it is open which
 */
export function withValue(clauses: readonly BareClause[], value: Value, mayAdd: boolean): BareClause[] | undefined {
  const [only] = clauses;
  if (clauses.length === 1 && only?.does === 'create') {
    const task = ofNew(only.task, value.build(SAME));
    if (task) return [{ ...only, task }];
  }
  const same = clauses.filter((clause) => kindOf(clause) === value.kind);
  if (same.length > 1) return [whichChange];
  const [one] = same;
  if (one && 'target' in one && one.target) {
    const target = one.target;
    const built = value.build(target);
    const isMoved = built.does === 'shift' && one.does !== 'shift' && one.does !== 'incomplete';
    return isMoved ? [whichChange] : clauses.map((clause) => (clause === one ? built : clause));
  }
  if (!mayAdd || value.isBare) return undefined;
  return subjectsIn(clauses) > 1 ? [whichChange] : [...clauses, value.build(SAME)];
}
