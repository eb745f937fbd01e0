import type { Clause } from './clauses.js';
import type { PeopleIndex } from './people.js';
import { quote } from './doubts/naming.js';
import { Question } from './subjects.js';
import type { Assignee } from './terms.js';

/** Clauses whose “everything” is what an absent member has. */
const FOLLOWING = new Set<Clause['does']>(['assign', 'due', 'shift']);

const nameOf = (who: Assignee, people: PeopleIndex): string =>
  who.kind === 'name' ? people.shown(who.name) : who.kind === 'whom' ? quote(who.written) : 'you';

/** Whom the sentences before said to be absent. `isEarlier`: in the message before. */
export interface Absent {
  who: readonly Assignee[];
  isEarlier: boolean;
}

/** The members who are absent by the last clause that says so. */
export const absentIn = (clauses: readonly Clause[]): readonly Assignee[] =>
  clauses.flatMap((clause) => (clause.does === 'aside' && clause.absent ? [clause.absent] : [])).at(-1) ?? [];

/**
 * Takes “everything” behind “Uma is ill” as the open tasks of Uma.
 * @returns the clause, and what to say of it
 * @throws Question it is open whose tasks, or which ones
 */
export function followAbsent<C extends Clause>(
  clause: C,
  { who, isEarlier }: Absent,
  people: PeopleIndex,
): { clause: C; note?: string } {
  if (who.length === 0 || !('target' in clause) || clause.target?.kind !== 'all') return { clause };
  const { filter, written } = clause.target;
  if (Object.keys(filter).length > 0 || /\blinked\b/i.test(written)) return { clause };
  const [assignee, ...others] = who;
  const all = `Do you mean the open tasks of ${who.map((each) => nameOf(each, people)).join(' and ')}, or all that is linked?`;
  if (!assignee || others.length > 0 || isEarlier || !FOLLOWING.has(clause.does))
    throw new Question(`${all} Write “all tasks of” and a name, or “all linked tasks”.`);
  const target = { ...clause.target, filter: { assignee } };
  return { clause: { ...clause, target }, note: `I take ${quote(written)} as the open tasks of ${nameOf(assignee, people)}.` };
}
