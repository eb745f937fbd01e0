/** States of a cycle, in order. */
export const CYCLE_STATUSES = ['planned', 'active', 'completed'] as const;

/** A completion locks and moves the tasks of its cycle in one transaction, so their number is limited (docs/decisions/work.md#cycle-size). */
export const MAX_TASKS_PER_CYCLE = 10_000;

/** Maximum tasks of one call that adds them. */
export const MAX_ADDED = 100;

/** Days of a burn-down; of a longer cycle the last ones. */
export const MAX_DAYS = 366;

/** Targets of a completion besides the id of a cycle. */
export const ROLLOVERS = ['backlog', 'next'] as const;

/** Place of a cycle: one cycle of each may be active. */
interface Place {
  team_id: string;
  project_id: string | null;
}

/** Returns whether tasks may roll over from one cycle to the other. */
export const isSamePlace = (a: Place, b: Place): boolean => a.team_id === b.team_id && a.project_id === b.project_id;

/** Returns whether a cycle may hold a task. */
export const mayHold = (cycle: Place, task: { team_id: string; project_id: string }): boolean =>
  task.team_id === cycle.team_id && (cycle.project_id === null || task.project_id === cycle.project_id);
