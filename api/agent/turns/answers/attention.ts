import { addTo } from '../../../platform/calendar-days.js';
import type { FoundTask } from '../find-tasks.js';
import { countsLine } from './counts.js';
import { describeTask, linesOf, MAX_LISTED } from './task-lines.js';

/** Days ahead in which a task that nobody has begun may be late. */
const SOON_DAYS = 7;

/** Open tasks that may go wrong, by why; each stands once, under the first reason. */
function reasonsOf(open: readonly FoundTask[], today: string): readonly (readonly [why: string, tasks: readonly FoundTask[]])[] {
  const soon = addTo(today, { days: SOON_DAYS });
  const isSoon = ({ due }: FoundTask): boolean => due !== null && due <= soon;
  const reasons: readonly (readonly [string, (task: FoundTask) => boolean])[] = [
    ['Overdue', ({ due }) => due !== null && due < today],
    ['Blocked by open tasks', ({ is_blocked }) => is_blocked],
    [`Due within ${SOON_DAYS} days, and not begun`, (task) => isSoon(task) && task.status === 'todo'],
    [`Due within ${SOON_DAYS} days, and not assigned`, (task) => isSoon(task) && task.assigned_to === null],
    ['Urgent, and not assigned', ({ priority, assigned_to }) => priority === 'urgent' && assigned_to === null],
  ];
  const named = new Set<string>();
  return reasons.map(([why, is]) => {
    const tasks = open.filter((task) => !named.has(task.id) && is(task));
    for (const { id } of tasks) named.add(id);
    return [why, tasks] as const;
  });
}

/** The tasks that `attentionWords` names, in its order. */
export const attentionTasks = (open: readonly FoundTask[], today: string): FoundTask[] =>
  reasonsOf(open, today).flatMap(([, tasks]) => tasks.slice(0, MAX_LISTED));

/** Tells what may go wrong, of the open tasks: only what their dates, states and relations say. */
export function attentionWords(open: readonly FoundTask[], today: string): string {
  if (open.length === 0) return 'No task is open.';
  const reasons = reasonsOf(open, today).filter(([, tasks]) => tasks.length > 0);
  const [counts = ''] = countsLine(open, today).slice(2).split('; 0 done');
  if (reasons.length === 0) return `${counts}.\n\nNone is overdue, blocked, or due within ${SOON_DAYS} days without being begun.`;
  return [`${counts}.`, ...reasons.map(([why, tasks]) => [`${why}:`, ...linesOf(tasks)].join('\n'))].join('\n\n');
}

/** Blocked tasks, each with the open tasks that block it. */
export const blockedWords = (tasks: readonly FoundTask[], blockers: readonly (FoundTask & { of_id: string })[]): string =>
  tasks
    .slice(0, MAX_LISTED)
    .map((task) => {
      const by = blockers.filter(({ of_id, status }) => of_id === task.id && status !== 'done');
      return [`${describeTask(task)}; it waits for:`, ...by.map((each) => `  ${describeTask(each)}`)].join('\n');
    })
    .concat(tasks.length > MAX_LISTED ? [`- and ${tasks.length - MAX_LISTED} more`] : [])
    .join('\n');
