import type { User } from '../../../identity/auth/schema.js';
import { plusDays } from '../../../platform/written-days.js';
import { weekStartOf } from '../../../work/saved-views/results/resolve-days.js';
import { createFormatter } from '../../wording/formatter.js';

/** Groups of tasks by when they are due, in the order of the page. */
const NAMES = { overdue: 'Overdue', today: 'Today', week: 'This week', later: 'Later', none: 'No due date' };
type Due = keyof typeof NAMES;
const ORDER = Object.keys(NAMES);

/** Returns a function that says when a task is due, in the calendar of a user. */
function dueIn(me: User): (due: string | null) => Due {
  const words = createFormatter(me);
  const { today } = words;
  const nextWeek = plusDays(weekStartOf({ today, weekStart: me.preferences.week_start }), 7);
  return (due) => {
    if (due === null) return 'none';
    if (words.isPast(due)) return 'overdue';
    const day = words.dueDay(due);
    return day <= today ? 'today' : day < nextWeek ? 'week' : 'later';
  };
}

/**
 * Groups the first of a user's tasks, which come by due date: overdue, today, this week, later, without a date. The last group has no count if
 * `total` says that there are more than these tasks.
 */
export function groupByDue<T extends { due_date: string | null }>(me: User, tasks: readonly T[], total: number) {
  const getDue = dueIn(me);
  const rows = tasks
    .map((task) => ({ ...task, when_due: getDue(task.due_date) }))
    .toSorted((a, b) => ORDER.indexOf(a.when_due) - ORDER.indexOf(b.when_due));
  const counts = new Map<string, number>();
  for (const { when_due } of rows) counts.set(when_due, (counts.get(when_due) ?? 0) + 1);
  const last = rows.at(-1)?.when_due;
  if (last !== undefined && total > tasks.length) counts.delete(last);
  return { rows, group: { by: 'when_due', names: NAMES, counts, estimates: new Map<string, number>() } };
}
