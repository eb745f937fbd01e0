import type { DueDate } from './dates.js';
import type { LinkedItem } from './tokens.js';

const STATUSES = ['todo', 'in_progress', 'in_review', 'done'] as const;
export type Status = (typeof STATUSES)[number];

export const PRIORITIES = ['low', 'medium', 'high', 'urgent'] as const;
type Priority = (typeof PRIORITIES)[number];

/** What a clause is about, before it is known which item that is. */
export type Target =
  /** Linked items of the name that was written; several have it if they share a title. */
  | { kind: 'named'; items: readonly LinkedItem[]; written: string }
  | { kind: 'it' }
  | { kind: 'all'; status: Status | null }
  /** Words that name no linked item. */
  | { kind: 'unknown'; written: string };

export type Assignee = { kind: 'me' } | { kind: 'nobody' } | { kind: 'name'; name: string };

/** One clause of a message. `unclear`: none that the grammar knows. */
export type Clause = { written: string } & (
  | { does: 'create'; title: string }
  | { does: 'status'; target: Target; status: Status }
  | { does: 'assign'; target: Target; to: Assignee }
  | { does: 'priority'; target: Target; priority: Priority }
  | { does: 'due'; target: Target; date: DueDate }
  | { does: 'rename'; target: Target; title: string }
  | { does: 'comment'; target: Target; text: string }
  | { does: 'delete'; target: Target }
  | { does: 'relate'; source: Target; target: Target; type: 'blocks' | 'related_to' }
  | { does: 'note'; title: string; text: string }
  | { does: 'unclear' }
);

/** A clause without the words it was written in. */
type Bare<C> = C extends { written: string } ? Omit<C, 'written'> : never;
export type BareClause = Bare<Clause>;
