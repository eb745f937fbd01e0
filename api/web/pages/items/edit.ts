import { z } from 'zod';
import { WorkItemParams } from '../../../work/items/schema.js';
import { updateProject } from '../../../work/projects/update-project.js';
import { UpdateProject } from '../../../work/projects/schema.js';
import { UpdateTask } from '../../../work/tasks/schema.js';
import { getWorkItem } from '../../../work/items/get-work-item.js';
import { updateTask } from '../../../work/tasks/write/update-task.js';
import type { Context } from '../../../platform/context.js';
import { invalidFields } from '../../../platform/errors.js';
import type { User } from '../../../identity/auth/schema.js';
import { page, type Page, type Redirect, requireUser } from '../../page.js';
import type { Undo } from '../../server/undo.js';
import { changedFields, listFields, parseInput, splitTags, Version } from '../projects/form-fields.js';
import { backPath, itemPath } from '../projects/paths.js';
import { readRepeat } from './repeat-form.js';
import { again } from './show-item.js';

const TASK_FIELDS = [
  'title',
  'description',
  'status',
  'assigned_to',
  'priority',
  'due_date',
  'tags',
  'estimated_hours',
  'project_id',
  'repeats',
  'repeats_words',
] as const;
const PROJECT_FIELDS = ['name', 'description', 'status', 'start_date', 'end_date'] as const;
/** Fields that an empty text clears. */
const CLEARED = new Set<string>(['description', 'assigned_to', 'due_date', 'estimated_hours', 'start_date', 'end_date']);

const MAX_ESTIMATE_HOURS = 1_000;

/** Reads hours as people type them: `1.5` or `1,5`. @throws VALIDATION_ERROR */
function readHours(text: string): number {
  const hours = /^\d+([.,]\d+)?$/.test(text.trim()) ? Number(text.trim().replace(',', '.')) : Number.NaN;
  if (hours <= MAX_ESTIMATE_HOURS) return hours;
  const message = `The estimate is a number of hours, at most ${MAX_ESTIMATE_HOURS.toLocaleString('en')}`;
  throw invalidFields([{ field: 'estimated_hours', message, type: 'custom' }]);
}

const READERS: Readonly<Record<string, (text: string) => unknown>> = { tags: splitTags, estimated_hours: readHours };

/** Returns the typed fields as the operation takes them. @throws VALIDATION_ERROR */
const toInput = (changed: Record<string, string>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(changed).map(([name, text]) => [
      name,
      text === '' && CLEARED.has(name) ? null : (READERS[name]?.(text) ?? text),
    ]),
  );

/** The version that the form showed; its other fields are looked up by name. */
const EditForm = z.looseObject({ version: Version });
/** A title of 200 and a description of 2,000 characters, each twice, with up to 12 bytes a character. */
const TASK_BYTES = 64 * 1024;
const PROJECT_BYTES = 144 * 1024;

interface Edited {
  fields: Parameters<typeof changedFields>[1];
  /** Returns the version after; the one before if nothing got another value. */
  save: (ctx: Context, itemId: string, input: Record<string, unknown>, version: number, me: User) => Promise<number>;
  undo: (itemId: string, after: number) => Undo;
}

const editPage = (type: 'task' | 'project', formBytes: number, { fields, save, undo }: Edited): Page =>
  page({
    method: 'post',
    path: `/app/items/:item_id/${type}`,
    access: `${type}.write`,
    params: WorkItemParams,
    formBytes,
    form: EditForm,
    async handle({ ctx, me, params: { item_id }, form }) {
      const changed = changedFields(form, fields);
      const to = backPath(form['back'], itemPath(item_id));
      const unchanged: Redirect = { to, notice: { kind: 'good', text: 'Nothing was changed' } };
      if (Object.keys(changed).length === 0) return unchanged;
      const after = await save(ctx, item_id, toInput(changed), form.version, requireUser({ me }));
      if (after === form.version) return unchanged;
      return { to, notice: { kind: 'good', text: `${listFields(Object.keys(changed))} changed`, undo: undo(item_id, after) } };
    },
    onError: again(type),
  });

export const editPages: Page[] = [
  editPage('task', TASK_BYTES, {
    fields: TASK_FIELDS,
    async save(ctx, id, { repeats, repeats_words: own, ...input }, version, me) {
      const text = own || repeats;
      const repeat = typeof text === 'string' ? await readRepeat(ctx, me, id, text.trim(), input['due_date']) : {};
      return updateTask(ctx, id, { ...parseInput(UpdateTask, { ...input, ...repeat }), version });
    },
    undo: (id, after) => ({ kind: 'revert_tasks', tasks: [[id, after]] }),
  }),
  editPage('project', PROJECT_BYTES, {
    fields: PROJECT_FIELDS,
    async save(ctx, id, input, version) {
      await updateProject(ctx, id, parseInput(UpdateProject, input), { version });
      return (await getWorkItem(ctx, id)).version;
    },
    undo: (id, after) => ({ kind: 'revert_project', project: [id, after] }),
  }),
];
