import type { TaskFilter } from '../../grammar/terms.js';
import { filterWords } from './filter-words.js';
import { calledBy, quote } from '../../grammar/doubts/naming.js';
import { stateWords } from '../../grammar/terms.js';
import { plural } from '../answer-words.js';
import { type FoundTask, MAX_COUNTED } from '../find-tasks.js';

/** Tasks that an answer lists; the others are counted. */
export const MAX_LISTED = 20;

export const describeTask = (task: FoundTask): string => {
  const { status, priority, due, assignee, is_blocked, project_title } = task;
  const parts = [
    stateWords(task),
    `${priority} priority`,
    due === null ? null : `due ${due}`,
    assignee === null ? 'not assigned' : `assigned to ${assignee}`,
    is_blocked && status !== 'done' ? 'blocked' : null,
    `in ${quote(project_title)}`,
  ].filter((part) => part !== null);
  return `- ${calledBy(task)}: ${parts.join(', ')}`;
};

const countWords = (count: number): string =>
  count > MAX_COUNTED ? `More than ${MAX_COUNTED.toLocaleString('en')} tasks` : plural(count, 'task', 'tasks');

/** The first tasks, one a line, and how many follow. */
export const linesOf = (tasks: readonly FoundTask[]): string[] => [
  ...tasks.slice(0, MAX_LISTED).map(describeTask),
  ...(tasks.length > MAX_LISTED ? [`- and ${countWords(tasks.length - MAX_LISTED).toLowerCase()} more`] : []),
];

export const NO_TASK = 'No task of the team is like that.';

/** A count and the first tasks. */
export const listWords = (tasks: readonly FoundTask[], none = NO_TASK): string =>
  tasks.length === 0 ? none : [`${countWords(tasks.length)}:`, ...linesOf(tasks)].join('\n');

/** What blocks a task, or what it blocks: only what is open does. */
export function blockingWords(tasks: readonly FoundTask[], end: 'before' | 'behind'): string {
  const [open, done] = [tasks.filter(({ status }) => status !== 'done'), tasks.filter(({ status }) => status === 'done')];
  if (tasks.length === 0) return end === 'before' ? 'No task blocks it.' : 'It blocks no task.';
  const head = listWords(open, end === 'before' ? 'No open task blocks it.' : 'It blocks no open task.');
  if (done.length === 0) return head;
  const why =
    end === 'before' ? 'These are done, so they block it no longer:' : 'These are done already, so it blocks them no longer:';
  return [head, '', why, ...linesOf(done)].join('\n');
}

/** How many open tasks each member has, most first, and how many of them are late. */
export function loadWords(tasks: readonly FoundTask[], filter: TaskFilter, today: string): string {
  const counts = new Map<string, { open: number; overdue: number }>();
  for (const { assignee, due } of tasks) {
    const { open, overdue } = counts.get(assignee ?? '') ?? { open: 0, overdue: 0 };
    counts.set(assignee ?? '', { open: open + 1, overdue: overdue + (due !== null && due < today ? 1 : 0) });
  }
  const rows = [...counts].sort(([, a], [, b]) => b.open - a.open || b.overdue - a.overdue).slice(0, MAX_LISTED);
  const about = filterWords(filter);
  if (rows.length === 0) return `${about}: none.`;
  const line = ([name, { open, overdue }]: (typeof rows)[number]) =>
    `- ${name === '' ? 'not assigned' : name}: ${open}${overdue > 0 ? `, ${overdue} of them overdue` : ''}`;
  const more = counts.size > rows.length ? [`- and ${counts.size - rows.length} more`] : [];
  return [`${about}:`, ...rows.map(line), ...more, '', 'Members who are not listed have none.'].join('\n');
}
