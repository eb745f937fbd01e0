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

const DAY_MS = 86_400_000;
const toDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
/** Last day that PostgreSQL and ISO 8601 write with four digits. */
const LAST_DAY_MS = Date.parse('9999-12-31');

interface Schedule {
  start_date: string | null;
  end_date: string | null;
  auto_complete: boolean;
  repeats: boolean;
}

/** Whether another cycle follows one: it repeats, and its days say how long it is and when it ends. */
export const doesRepeat = <T extends Schedule>(cycle: T): cycle is T & { start_date: string; end_date: string } =>
  cycle.repeats && cycle.auto_complete && cycle.start_date !== null && cycle.end_date !== null;

/**
 * Returns the days of the cycle that follows one that repeats: as many, right behind it. Cycles that would be over before `today` are left out. Null: there
 * is no such day any more.
 */
export function daysAfter(
  { start_date, end_date }: { start_date: string; end_date: string },
  today: string,
): { start_date: string; end_date: string } | null {
  const length = Date.parse(end_date) - Date.parse(start_date) + DAY_MS;
  const missed = Math.max(0, Math.ceil((Date.parse(today) - Date.parse(end_date) - length) / length));
  const start = Date.parse(end_date) + DAY_MS + missed * length;
  const end = start + length - DAY_MS;
  return end > LAST_DAY_MS ? null : { start_date: toDay(start), end_date: toDay(end) };
}

/** Returns the name of the cycle that follows one: "Sprint 5" after "Sprint 4"; by its number, if the name does not end on the only number in it. */
export function nameAfter(name: string, number: number): string {
  const [, words, count] = /^(\D*)(\d{1,9})$/.exec(name) ?? [];
  return count === undefined ? `Cycle ${number}` : `${words}${Number(count) + 1}`.slice(0, 200);
}
