import { z } from 'zod';
import { WorkItemParams } from '../../../work/items/schema.js';
import { updateProject } from '../../../work/projects/update-project.js';
import { UpdateProject } from '../../../work/projects/schema.js';
import { UpdateTask } from '../../../work/tasks/schema.js';
import { getWorkItem } from '../../../work/items/get-work-item.js';
import { updateTask } from '../../../work/tasks/write/update-task.js';
import { page, type Page } from '../../page.js';
import { changedFields, parseInput, Version } from '../projects/form-fields.js';
import { backPath, itemPath } from '../projects/paths.js';
import { again } from './show-item.js';

const TASK_FIELDS = ['title', 'description', 'status', 'assigned_to', 'priority', 'due_date', 'tags'] as const;
const PROJECT_FIELDS = ['name', 'description', 'status', 'start_date', 'end_date'] as const;
/** Fields that an empty text clears. */
const CLEARED = new Set<string>(['description', 'assigned_to', 'due_date', 'start_date', 'end_date']);

const NAMES: Readonly<Record<string, string>> = { assigned_to: 'assignee', name: 'name' };
const nameOf = (field: string): string => NAMES[field] ?? field.replaceAll('_', ' ');
const listed = (fields: readonly string[]): string => {
  const text = new Intl.ListFormat('en').format(fields.map(nameOf));
  return `${text.charAt(0).toUpperCase()}${text.slice(1)} changed`;
};

const splitTags = (text: string): string[] =>
  text
    .split(',')
    .map((tag) => tag.trim().replace(/^#/, ''))
    .filter((tag) => tag !== '');

/** Returns the typed fields as the operation takes them. */
const toInput = (changed: Record<string, string>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(changed).map(([name, text]) => [
      name,
      name === 'tags' ? splitTags(text) : text === '' && CLEARED.has(name) ? null : text,
    ]),
  );

/** The version that the form showed; its other fields are looked up by name. */
const EditForm = z.looseObject({ version: Version });
/** A title of 200 and a description of 2,000 characters, each twice, with up to 12 bytes a character. */
const TASK_BYTES = 64 * 1024;
const PROJECT_BYTES = 144 * 1024;

export const editPages: Page[] = [
  page({
    method: 'post',
    path: '/app/items/:item_id/task',
    access: 'task.write',
    params: WorkItemParams,
    formBytes: TASK_BYTES,
    form: EditForm,
    async handle({ ctx, params, form }) {
      const changed = changedFields(form, TASK_FIELDS);
      const to = backPath(form['back'], itemPath(params.item_id));
      if (Object.keys(changed).length === 0) return { to, notice: { kind: 'good', text: 'Nothing was changed' } };
      const { version } = form;
      const after = await updateTask(ctx, params.item_id, { ...parseInput(UpdateTask, toInput(changed)), version });
      if (after === version) return { to, notice: { kind: 'good', text: 'Nothing was changed' } };
      const undo = { kind: 'revert_tasks' as const, tasks: [[params.item_id, after] as [string, number]] };
      return { to, notice: { kind: 'good', text: listed(Object.keys(changed)), undo } };
    },
    onError: again('task'),
  }),
  page({
    method: 'post',
    path: '/app/items/:item_id/project',
    access: 'project.write',
    params: WorkItemParams,
    formBytes: PROJECT_BYTES,
    form: EditForm,
    async handle({ ctx, params, form }) {
      const changed = changedFields(form, PROJECT_FIELDS);
      const to = backPath(form['back'], itemPath(params.item_id));
      if (Object.keys(changed).length === 0) return { to, notice: { kind: 'good', text: 'Nothing was changed' } };
      const { version } = form;
      await updateProject(ctx, params.item_id, parseInput(UpdateProject, toInput(changed)), { version });
      const after = (await getWorkItem(ctx, params.item_id)).version;
      if (after === version) return { to, notice: { kind: 'good', text: 'Nothing was changed' } };
      const undo = { kind: 'revert_project' as const, project: [params.item_id, after] as [string, number] };
      return { to, notice: { kind: 'good', text: listed(Object.keys(changed)), undo } };
    },
    onError: again('project'),
  }),
];
