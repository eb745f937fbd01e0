import { listTaskColumns } from '../../work/tasks/columns.js';
import { TASK_PRIORITIES, type TaskPriority } from '../../work/tasks/rules.js';
import type { Effect, Fields } from './action.js';
import type { Risk } from '../contract/action-type.js';

const rank = (priority: unknown): number => TASK_PRIORITIES.indexOf(priority as TaskPriority);
/** Fields whose loss matters; a cleared parent is a move, which has its own line. */
const CLEARABLE = [...listTaskColumns('lossy'), 'start_date', 'end_date'];

const isEmpty = (value: unknown): boolean => value == null || value === '' || (Array.isArray(value) && value.length === 0);

const toText = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Whether two values of a field are not the same. */
export function differs(before: unknown, after: unknown): boolean {
  return JSON.stringify(before ?? null) !== JSON.stringify(after ?? null);
}

/** Whether an assignment is more than taking what no user has: it gives work to another user, or takes it from one. */
export function assignmentMatters(from: unknown, to: unknown, userId: string): boolean {
  if (from != null) return from !== userId;
  return to != null && to !== userId;
}

function statusMatters({ before, after, openDescendants }: Effect): boolean {
  if (before?.['status'] === after?.['status']) return false;
  if (before?.['status'] === 'done') return true;
  return after?.['status'] === 'done' && (openDescendants > 0 || before?.['recurrence'] != null);
}

/** Fields with a long text. */
const PROSE = listTaskColumns('prose');
/** Titles up to this length hold a few words; a longer one is a text that a user wrote. */
const SHORT_TITLE = 20;

/** Whether a text that a user wrote makes way for another one. */
function replacesText({ before, after }: Effect): boolean {
  const [from, to] = [toText(before?.['title']), toText(after?.['title'])];
  const title = differs(from, to) && Math.max(from.length, to.length) > SHORT_TITLE;
  return title || PROSE.some((field) => !isEmpty(before?.[field]) && differs(before?.[field], after?.[field]));
}

/** Returns the risk of any change of a task. */
export function riskOfTaskUpdate(effect: Effect): Risk {
  const before = effect.before ?? {};
  const after = effect.after ?? {};
  const changed = (field: string): boolean => differs(before[field], after[field]);
  if (changed('project_id')) return 'high';
  const isLower = rank(after['priority']) < rank(before['priority']);
  const isEarlier = toText(after['due_date']) < toText(before['due_date']);
  const isCleared = CLEARABLE.some((field) => !isEmpty(before[field]) && isEmpty(after[field]));
  const [were, are] = [before, after].map((fields) => (fields['custom_fields'] ?? {}) as Fields);
  const losesValue = Object.keys(were ?? {}).some((id) => !isEmpty(were?.[id]) && isEmpty(are?.[id]));
  const isAssignment = changed('assigned_to') && assignmentMatters(before['assigned_to'], after['assigned_to'], effect.userId);
  const moves = changed('parent_task_id') || changed('recurrence') || changed('is_archived');
  const matters =
    losesValue || isLower || isEarlier || isCleared || isAssignment || moves || statusMatters(effect) || replacesText(effect);
  return matters ? 'medium' : 'low';
}

/** Whether the action completes a recurring task, so that its series goes on with the next one. */
export const startsNext = (before: Fields | null, after: Fields | null): boolean =>
  before?.['status'] !== 'done' && after?.['status'] === 'done' && before?.['recurrence'] != null;
