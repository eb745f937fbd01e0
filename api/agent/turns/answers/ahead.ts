import type { TaskQuestion } from '../../grammar/clauses.js';
import { PRIORITIES } from '../../grammar/terms.js';
import { addTo } from '../../../platform/calendar-days.js';
import { plural } from '../answer-words.js';
import type { FoundTask } from '../find-tasks.js';
import { describeTask, linesOf } from './task-lines.js';

/** What a person shall do next, today or this week. */
type Ahead = Extract<TaskQuestion['show'], 'next' | 'day' | 'week'>;
export const isAhead = (show: TaskQuestion['show']): show is Ahead => show === 'next' || show === 'day' || show === 'week';

/** Tasks that a plan names at least, if that many are open. */
const FEW: Readonly<Record<Ahead, number>> = { next: 5, day: 3, week: 5 };

/** Days within which a due date comes before a priority. */
const SOON_DAYS = 3;

/** How soon a task comes: late, due today, begun, due soon, the others. `ORDER` says so. */
function soonness({ due, status }: FoundTask, today: string): number {
  if (due !== null && due < today) return 0;
  if (due === today) return 1;
  if (status !== 'todo') return 2;
  return due !== null && due <= addTo(today, { days: SOON_DAYS, months: 0 }) ? 3 : 4;
}

const byOrder =
  (today: string) =>
  (a: FoundTask, b: FoundTask): number =>
    Number(a.is_blocked) - Number(b.is_blocked) ||
    soonness(a, today) - soonness(b, today) ||
    PRIORITIES.indexOf(b.priority as 'low') - PRIORITIES.indexOf(a.priority as 'low') ||
    (a.due ?? '9').localeCompare(b.due ?? '9');

/** The last day of a week that begins on Monday. */
const endOfWeek = (today: string): string =>
  addTo(today, { days: (7 - new Date(`${today}T00:00:00Z`).getUTCDay()) % 7, months: 0 });

/** The tasks that come now, of the open ones of a person: blocked tasks wait, and others fill up what is due. */
export function chooseAhead(tasks: readonly FoundTask[], show: Ahead, today: string): FoundTask[] {
  const ordered = tasks.toSorted(byOrder(today));
  const last = show === 'week' ? endOfWeek(today) : today;
  const isNow = (task: FoundTask): boolean =>
    !task.is_blocked && (soonness(task, today) < 3 || (task.due !== null && task.due <= last));
  const now = show === 'next' ? [] : ordered.filter(isNow);
  return now.length >= FEW[show] ? now : [...now, ...ordered.filter((task) => !now.includes(task))].slice(0, FEW[show]);
}

const HEADS: Readonly<Record<Ahead, string>> = { next: 'Begin with', day: 'For today', week: 'For this week' };
const HEADS_OF: Readonly<Record<Ahead, (whose: string) => string>> = {
  next: (whose) => `First for ${whose}`,
  day: (whose) => `For ${whose} today`,
  week: (whose) => `For ${whose} this week`,
};
const ORDER = `Late tasks come first, then those due today, those begun, those due within ${SOON_DAYS} days, and then the most urgent; blocked ones come last.`;

/** Names what comes next. `open`: the open tasks of the person. `whose`: their name; null for the asker. */
export function aheadWords(tasks: readonly FoundTask[], open: number, show: Ahead, whose: string | null): string {
  const [first, ...others] = tasks;
  if (!first) return `No open task is assigned to ${whose ?? 'you'}.`;
  const lines =
    show === 'next'
      ? [describeTask(first), ...(others.length > 0 ? ['', 'After that:', ...linesOf(others)] : [])]
      : linesOf(tasks);
  const of = whose ?? 'yours';
  const more =
    open > tasks.length ? `${plural(open - tasks.length, `more task of ${of} is`, `more tasks of ${of} are`)} open. ` : '';
  return [`${whose === null ? HEADS[show] : HEADS_OF[show](whose)}:`, ...lines, '', `${more}${ORDER}`].join('\n');
}
