import { quote } from '../../grammar/doubts/naming.js';
import { STATUS_WORDS, type TaskFilter } from '../../grammar/terms.js';
import { daysWords } from '../answer-activity.js';

const OPEN = 'todo,in_progress,in_review';

/** Which tasks an answer counts, in words: all that the question said of them, without their assignee. */
export function filterWords(filter: TaskFilter): string {
  const { statuses, resolutions, priorities, due, completed, tag, words, project } = filter;
  const states = resolutions ?? statuses?.map((each) => STATUS_WORDS[each] ?? each);
  const isOpen = statuses?.join() === OPEN;
  const named = [...(words ?? []), ...(project ?? [])];
  return [
    isOpen ? 'Open tasks' : 'Tasks',
    !isOpen && states && !filter.stages && `that are ${states.join(' or ')}`,
    filter.stages && `in the stage ${filter.stages.map(quote).join(' or ')}`,
    ...(filter.fields ?? []).map(({ field, value }) => (value === null ? `without ${field}` : `with ${field} ${quote(value)}`)),
    filter.cycle && `in ${quote(filter.cycle.written)}`,
    filter.hasNoCycle && 'in no cycle',
    priorities && `of ${priorities.join(' or ')} priority`,
    filter.isOverdue && 'that are overdue',
    filter.isBlocked && 'that are blocked',
    filter.hasNoDueDate && 'without a due date',
    due && `due ${daysWords(due)}`,
    completed && daysWords(completed),
    tag !== undefined && `tagged ${quote(tag)}`,
    named.length > 0 && `with words like ${named.map(quote).join(', ')} in title, tags or project`,
  ]
    .filter((part) => typeof part === 'string')
    .join(' ');
}
