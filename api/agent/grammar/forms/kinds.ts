import type { Clause } from '../clauses.js';

/** Kinds of clauses. */

const UNRESOLVED = [
  'ask',
  'activity',
  'about',
  'cycle',
  'forecast',
  'blocking',
  'summary',
  'help',
  'unclear',
  'unblock',
  'undo',
  'discard',
] as const;
/** Changes that nobody makes of a task that is done, unless the task is named. */
export const GIVING = new Set<Clause['does']>(['assign', 'unassign', 'join', 'due', 'shift', 'priority', 'step', 'unprioritize']);
export type Unresolved = (typeof UNRESOLVED)[number];
/** Whether a clause asks, or means nothing. */
export const changesNothing = (clause: Clause): clause is Extract<Clause, { does: Unresolved }> =>
  UNRESOLVED.some((does) => does === clause.does);
