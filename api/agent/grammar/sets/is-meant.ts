import type { DateRange } from '../../../platform/written-ranges.js';
import { titleStems } from '../match.js';
import type { CycleName, Status, TaskFilter } from '../terms.js';

/** A task as a filter sees it. */
export interface FilteredTask {
  id: string;
  title: string;
  status: string;
  /** Name of its stage. */
  stage?: string | null;
  /** Absent where it was not read. */
  cycle?: { name: string; status: string } | null;
  /** Words of the values by the names of the fields in lower case; absent where they were not read. */
  fields?: Readonly<Record<string, string>> | null;
  /** Why it is done, if nobody completed it. */
  resolution?: string | null;
  project_title?: string | null;
  priority?: string | null;
  /** YYYY-MM-DD */
  due?: string | null;
  /** YYYY-MM-DD */
  completed?: string | null;
  assigned_to?: string | null;
  tags?: readonly string[];
  is_blocked?: boolean;
}

/** States of a task that is not done. */
export const OPEN: readonly Status[] = ['todo', 'in_progress', 'in_review'];

const isWithin = (day: string | null | undefined, { from, to }: DateRange): boolean =>
  day != null && (from === undefined || day >= from) && (to === undefined || day <= to);

/** Whether a text has all of the stems. */
export const hasStems = (text: string, stems: readonly string[]): boolean => {
  const found = titleStems(text);
  return stems.every((stem) => found.has(stem));
};
const hasWords = ({ title, project_title, tags }: FilteredTask, words: readonly string[]): boolean =>
  hasStems([title, project_title ?? '', ...(tags ?? [])].join(' '), words);

/** Whether a task has one of the statuses: what was canceled, or is a duplicate, was not completed. */
function hasStatus({ status, resolution }: FilteredTask, { statuses, resolutions, completed }: TaskFilter): boolean {
  if (resolutions) return resolutions.some((each) => each === resolution);
  if (!statuses && !completed) return true;
  return (statuses ?? ['done']).some((each) => each === status) && resolution == null;
}
/** Whether a filter means tasks that were completed, so that it leaves out those that are done for another reason. */
export const meansCompleted = ({ statuses, completed, resolutions }: TaskFilter): boolean =>
  !resolutions && (completed !== undefined || statuses?.includes('done') === true);

/** Whether a task is in the cycle that a filter names, by name or state. */
export const isInCycle = (cycle: FilteredTask['cycle'], { when, names }: CycleName): boolean =>
  cycle != null && (names.length > 0 ? names.includes(cycle.name.toLowerCase()) : cycle.status === when);

function hasField(fields: Readonly<Record<string, string>>, { field, value }: { field: string; value: string | null }): boolean {
  const found = Object.hasOwn(fields, field) ? fields[field]?.toLowerCase() : undefined;
  return found === undefined || value === null ? (found ?? null) === value : found === value || found.split(', ').includes(value);
}

/** Returns whether a task is meant. `people`: the ids that the filter's assignee may be; `today`: YYYY-MM-DD. */
export function isMeant(task: FilteredTask, filter: TaskFilter, people: readonly (string | null)[], today: string): boolean {
  const { priorities, due, completed, words, tag, project } = filter;
  return (
    hasStatus(task, filter) &&
    (!filter.cycle || task.cycle === undefined || isInCycle(task.cycle, filter.cycle)) &&
    (!filter.hasNoCycle || task.cycle == null) &&
    (!filter.fields || task.fields === undefined || filter.fields.every((each) => hasField(task.fields ?? {}, each))) &&
    (!filter.stages || filter.stages.includes(task.stage?.toLowerCase() ?? '')) &&
    (!priorities || priorities.some((priority) => priority === task.priority)) &&
    (!filter.isOverdue || (task.status !== 'done' && task.due != null && task.due < today)) &&
    (!filter.isBlocked || task.is_blocked === true) &&
    !filter.lacksIt &&
    (!filter.hasNoDueDate || task.due == null) &&
    (!due || isWithin(task.due, due)) &&
    (!completed || (task.status === 'done' && isWithin(task.completed, completed))) &&
    (!filter.assignee || people.includes(task.assigned_to ?? null)) &&
    (tag === undefined || (task.tags ?? []).some((each) => each.toLowerCase() === tag)) &&
    (!project || hasStems(task.project_title ?? '', project)) &&
    (!words || hasWords(task, words))
  );
}
