import { chosenValue } from '../../../work/tasks/rules.js';
import type { Task } from '../../../work/tasks/schema.js';
import type { Fields } from '../../server/read-form.js';
import { readText } from '../projects/form-fields.js';

/** Fields of a task's page that one form or another changes. */
export const TASK_FIELDS = [
  'title',
  'description',
  'status',
  'assigned_to',
  'priority',
  'due_date',
  'tags',
  'estimate',
  'estimated_hours',
  'project_id',
  'cycle_id',
  'repeats',
  'repeats_words',
] as const;
export type TaskTexts = Record<(typeof TASK_FIELDS)[number], string>;

/** Returns what the forms of a task show of its fields, and send back as `was-<name>`. `repeats`: how often it repeats, in words. */
export const taskTexts = (task: Omit<Task, 'subtasks'>, repeats: string): TaskTexts => ({
  title: task.title,
  description: task.description ?? '',
  status: chosenValue(task),
  assigned_to: task.assigned_to ?? '',
  priority: task.priority,
  due_date: (task.due_date ?? '').slice(0, 10),
  tags: task.tags.join(', '),
  estimate: task.estimate === null ? '' : String(task.estimate),
  estimated_hours: task.estimated_hours === null ? '' : String(task.estimated_hours),
  project_id: task.project_id,
  cycle_id: task.cycle_id ?? '',
  repeats,
  repeats_words: '',
});

/** Returns the fields to which a form gives one value and others gave another since it was shown. */
export const findCollisions = (form: Fields, stored: TaskTexts): (keyof TaskTexts)[] =>
  TASK_FIELDS.filter((name) => {
    const [was, typed] = [readText(form, `was-${name}`), readText(form, name)];
    return was !== undefined && typed !== undefined && typed !== was && ![was, typed].includes(stored[name]);
  });
