import type { Duration, WrittenDate } from '../../platform/written-days.js';
import type { DateRange } from '../../platform/written-ranges.js';
import type { CycleName } from './terms.js';
import type { Assignee, Priority, Resolution, Status, TaskFilter } from './terms.js';
import type { LinkedItem } from './tokens.js';

/** What a clause is about, before it is known which item that is. */
export type Target =
  /** Linked items of the name that was written; several have it if they share a title, or the words that were written. */
  | { kind: 'named'; items: readonly LinkedItem[]; written: string }
  | { kind: 'it' }
  /** All that the clause before was about. */
  | { kind: 'same' }
  /** What the clause before was about, or all linked tasks. `both`: only if they are two. */
  | { kind: 'them'; both: boolean }
  /** Tasks of these facts, without the excepted ones; `both`: they are two; `isAny`: the message said no fact. */
  | { kind: 'all'; filter: TaskFilter; written: string; except?: Target; both?: true; isAny?: true }
  | { kind: 'list'; targets: readonly Target[] }
  /** A part of what was meant before. */
  | { kind: 'part'; of: Target; part: Part }
  /** `the rest`: what that leaves out, only the person knows. */
  | { kind: 'rest'; written: string }
  /** Words that name nothing known; `near` have some of them. `names`: the words of each name in it. */
  | { kind: 'unknown'; written: string; near: readonly LinkedItem[]; names: readonly (readonly string[])[] };

/** Which part of some tasks is meant: those with the facts, or those that the target names. */
export interface Part {
  is: 'only' | 'without';
  filter?: TaskFilter;
  target?: Target;
  written: string;
}

/** What a new task is given besides its title. */
export interface NewTask {
  title: string;
  due?: WrittenDate;
  priority?: Priority;
  to?: Assignee;
  project?: Target;
  /** A task that it is related to. */
  related?: Target;
}

/**
 * A question about tasks. `list`: which they are. `count`: how many. `load`: how many each member has. `next`, `day`, `week`: which of the
 * person's come next. `attention`: what may go wrong. `blockers`: each with what blocks it.
 */
export interface TaskQuestion {
  show: 'list' | 'count' | 'load' | 'next' | 'day' | 'week' | 'attention' | 'blockers';
  filter: TaskFilter;
  /** `what else`: not what the clause before was about. */
  isElse?: true;
  /** Of `load`: the task that a member is looked for. */
  of?: Target;
}

/** A question about what was done. */
export interface ActivityQuestion {
  /** Who did it; absent for anybody. */
  who?: Assignee;
  /** What did it in the name of people: automations, or confirmed plans of the agent. */
  by?: 'automation' | 'agent';
  /** The task or project that it was done to. */
  of?: Target;
  /** Days, of which either end may be open; absent if none was said. */
  days?: DateRange;
  /** Only the newest change that did this: who closed it? */
  what?: ActivityKind;
}
export type ActivityKind = 'closed' | 'reopened' | 'created' | 'assigned' | 'moved' | 'changed';

/**
 * One clause of a message. `unclear`: none that the grammar knows. `follows`: with those beside it, it says again what the message before
 * meant. `replaces`: that has a plan that waits.
 */
export type Clause = { written: string; follows?: true; replaces?: true } & (
  | { does: 'create'; task: NewTask }
  | { does: 'subtasks'; of: Target; tasks: readonly NewTask[] }
  /** `resolution`: why it is done that nobody completed. */
  | { does: 'status'; target: Target; status: Status; resolution?: Resolution }
  /** Stages and fields by the names of the team; of several the person has to choose. */
  | { does: 'stage'; target: Target; stages: readonly string[] }
  | { does: 'field'; target: Target; fields: readonly string[]; value: string | null }
  /** Into an open cycle, or out of the one that is named. */
  | { does: 'enter_cycle' | 'leave_cycle'; target: Target; cycle: CycleName }
  | { does: 'assign'; target: Target; to: Assignee }
  | { does: 'unassign'; target: Target; from: Assignee | null }
  | { does: 'priority'; target: Target; priority: Priority }
  /** `by` steps up. */
  | { does: 'step'; target: Target; by: 1 | -1 }
  /** `to`: who shall do it until then. */
  | { does: 'due'; target: Target; date: WrittenDate; to?: Assignee }
  | { does: 'shift'; target: Target; by: Duration }
  | { does: 'rename'; target: Target; title: string }
  | { does: 'describe'; target: Target; text: string }
  | { does: 'estimate'; target: Target; size: { estimated_hours: number } | { estimate: number | null } }
  | { does: 'archive'; target: Target; archived: boolean }
  | { does: 'tag' | 'untag'; target: Target; tag: string }
  | { does: 'place'; target: Target; project: Target }
  | { does: 'comment'; target: Target; text: string }
  | { does: 'delete'; target: Target }
  /** `isDuplicate`: the sources are closed as duplicates of the target. */
  | { does: 'relate'; source: Target; target: Target; type: 'blocks' | 'related_to'; isDuplicate?: true }
  | { does: 'note'; title: string; text: string }
  | { does: 'ask'; question: TaskQuestion }
  | { does: 'activity'; asked: ActivityQuestion }
  | { does: 'about'; target: Target }
  /** How far a cycle is; `otherwise`: what is asked if the words name no cycle. */
  | { does: 'cycle'; cycle: CycleName; otherwise?: { does: 'ask'; question: TaskQuestion } | { does: 'about'; target: Target } }
  /** When a project will be done: the target, or the only linked one. `isOfAll`: where no project is meant, all open tasks. */
  | { does: 'forecast'; target: Target | null; isOfAll?: true }
  /** What blocks the target, or what it blocks. */
  | { does: 'blocking'; target: Target; end: 'before' | 'behind' }
  | { does: 'summary' | 'help' }
  /** A fact that changes nothing; `target` is what it is about, `absent` who does not work. */
  | { does: 'aside'; target: Target | null; absent?: readonly Assignee[] }
  /** Takes back the plan that was confirmed last. */
  | { does: 'undo' }
  /** Discards the plan that waits. */
  | { does: 'discard' }
  /** A change without its value, which is asked. */
  | { does: 'incomplete'; target: Target; lacks: 'person' | 'date' | 'priority' | 'status' }
  /** Gives each of two tasks what the other one has. */
  | { does: 'swap'; target: Target }
  /** Ends what blocks the target; `by`: only that. */
  | { does: 'unblock'; target: Target; by: Target | null }
  /** Assigns a task that nobody has. */
  | { does: 'join'; target: Target; to: Assignee }
  /** It has this priority no longer. */
  | { does: 'unprioritize'; target: Target; priority: Priority }
  /** A question of ours, because the clause leaves something open. */
  | { does: 'doubt'; text: string }
  /** What no plan can do with the target; `date`: when it was wanted. */
  | { does: 'cannot'; what: 'remind' | 'hold'; target: Target; date?: WrittenDate }
  /** A text that may be a note of its own, or a comment on what it names. */
  | { does: 'which_note'; text: string; items: readonly LinkedItem[] }
  | { does: 'unclear' }
);

/** A clause without the words it was written in. */
type Bare<C> = C extends { written: string } ? Omit<C, 'written'> : never;
export type BareClause = Bare<Clause>;

/** A clause that sets one field. */
export type FieldClause = Extract<
  Clause,
  {
    does:
      | 'priority'
      | 'unprioritize'
      | 'step'
      | 'describe'
      | 'estimate'
      | 'archive'
      | 'tag'
      | 'untag'
      | 'place'
      | 'stage'
      | 'field';
  }
>;
/** The clauses of one kind. */
export type Does<D extends Clause['does']> = Extract<Clause, { does: D }>;
