import { droppedWords } from '../../grammar/sets/dropped.js';
import { plural } from '../answer-words.js';
import { type FoundTask, MAX_COUNTED } from '../find-tasks.js';

/** How many tasks are open, late, in review and done: one line of an answer. */
export function countsLine(tasks: readonly FoundTask[], today: string): string {
  if (tasks.length > MAX_COUNTED) return `- more than ${MAX_COUNTED.toLocaleString('en')} tasks, which I do not count`;
  const open = tasks.filter(({ status }) => status !== 'done');
  const count = (is: (task: FoundTask) => boolean): number => open.filter(is).length;
  const parts = [
    `${count(({ due }) => due !== null && due < today)} of them overdue`,
    `${count(({ status }) => status === 'in_progress')} in progress`,
    `${count(({ status }) => status === 'in_review')} in review`,
    `${count(({ is_blocked }) => is_blocked)} blocked`,
  ];
  const done = tasks.filter(({ status, resolution }) => status === 'done' && resolution === null).length;
  const dropped = droppedWords(tasks);
  return `- ${plural(open.length, 'open task', 'open tasks')}${open.length > 0 ? `, ${parts.join(', ')}` : ''}; ${done} done${dropped === '' ? '' : `. ${dropped}`}`;
}

/** How many of all tasks are done; what was canceled, or is a duplicate, counts as neither. */
export function doneLine(tasks: readonly FoundTask[]): string {
  const meant = tasks.filter(({ resolution }) => resolution === null);
  const done = meant.filter(({ status }) => status === 'done').length;
  return `- ${done} of ${plural(meant.length, 'task', 'tasks')} done`;
}
