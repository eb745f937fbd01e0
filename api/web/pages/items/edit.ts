import { z } from 'zod';
import { WorkItemParams } from '../../../work/items/schema.js';
import { updateProject } from '../../../work/projects/update-project.js';
import { UpdateProject } from '../../../work/projects/schema.js';
import { getWorkItem } from '../../../work/items/get-work-item.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { Id } from '../../../platform/fields.js';
import { editComment } from '../../../work/comments/edit-comment.js';
import { loadComment } from '../../../work/comments/load-comment.js';
import { invalidFields } from '../../../platform/errors.js';
import type { User } from '../../../identity/auth/schema.js';
import { page, type Page, type Redirect, requireUser, type View } from '../../page.js';
import { toDomainError } from '../../../platform/database/database-errors.js';
import { getTask } from '../../../work/tasks/read/get-task.js';
import type { Task } from '../../../work/tasks/schema.js';
import { changeTask } from '../projects/change-ticked.js';
import { closeAsDuplicate, describeClosed, undoClosed } from '../projects/duplicates.js';
import { tickBox } from '../../wording/markdown.js';
import type { ChangedTask, Undo } from '../../server/undo.js';
import { changedFields, listFields, parseInput, readPoints, splitTags, Version } from '../projects/form-fields.js';
import { backPath, itemPath } from '../projects/paths.js';
import { findRelationTarget } from './relation-target.js';
import { MAX_ATTEMPTS, saveTask } from './save-task.js';
import { again, itemView } from './show-item.js';
import { TASK_FIELDS } from './task-texts.js';

const PROJECT_FIELDS = ['name', 'description', 'status', 'lead_id', 'start_date', 'end_date'] as const;
/** Fields that an empty text clears. */
const CLEARED = new Set<string>([
  'description',
  'assigned_to',
  'due_date',
  'estimate',
  'estimated_hours',
  'start_date',
  'end_date',
  'lead_id',
]);

const MAX_ESTIMATE_HOURS = 1_000;

/** Reads hours as people type them: `1.5` or `1,5`. @throws VALIDATION_ERROR */
function readHours(text: string): number {
  const hours = /^\d+([.,]\d+)?$/.test(text.trim()) ? Number(text.trim().replace(',', '.')) : Number.NaN;
  if (hours <= MAX_ESTIMATE_HOURS) return hours;
  const message = `The estimate is a number of hours, at most ${MAX_ESTIMATE_HOURS.toLocaleString('en')}`;
  throw invalidFields([{ field: 'estimated_hours', message, type: 'custom' }]);
}

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  tags: splitTags,
  estimate: readPoints,
  estimated_hours: readHours,
};

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

/** A posted form: which item, what it changed, and all that it sent. */
interface Edit {
  itemId: string;
  changed: Record<string, string>;
  form: z.output<typeof EditForm>;
}

interface Edited {
  fields: Parameters<typeof changedFields>[1];
  /** Returns what takes the change back, with what to say if it is more than the names of the fields; undefined if nothing got another value. */
  save: (ctx: Context, me: User, edit: Edit) => Promise<{ undo: Undo; text?: string } | View | undefined>;
}

const editPage = (type: 'task' | 'project', formBytes: number, { fields, save }: Edited): Page =>
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
      const saved = await save(ctx, requireUser({ me }), { itemId: item_id, changed, form });
      if (!saved) return unchanged;
      if ('view' in saved) return saved;
      const { undo, text = `${listFields(Object.keys(changed))} changed` } = saved;
      return { to, notice: { kind: 'good', text, undo } };
    },
    onError: again(type),
  });

/** Ticks a box in the text of a task. Undefined if the line says something else now. @throws the errors of `updateTask` */
async function tickTask(ctx: Context, taskId: string, box: string): Promise<ChangedTask | 'unchanged' | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const { description, version } = JSON.parse((await getTask(ctx, taskId)).json) as Task;
    const text = tickBox(description ?? '', box);
    if (text === undefined || text === description) return text === undefined ? undefined : 'unchanged';
    try {
      const patch = { description: text };
      return (await changeTask(ctx, [taskId, version], undefined, { patch, cycle: undefined })) ?? 'unchanged';
    } catch (error) {
      if (!('changed_since' in toDomainError(error).extra) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** How a form names a box. */
const BoxName = z.string().regex(/^\d{1,4}:[01]:[0-9a-f]{12}$/);
const LINE_CHANGED = { kind: 'bad' as const, text: 'That line has changed. Nothing was ticked.' };
const tickedText = (box: string): string => (box.includes(':1:') ? 'No longer ticked' : 'Ticked');

const tickCommentPage = page({
  method: 'post',
  path: '/app/items/:item_id/comments/tick',
  access: 'comment.write',
  params: WorkItemParams,
  form: z.object({ comment_id: Id, box: BoxName }),
  async handle({ ctx, params: { item_id }, form: { comment_id, box } }) {
    const isKnown = await inTransaction(ctx, async (ctx) => {
      const { comment } = await loadComment(ctx, comment_id);
      const content = tickBox(comment.content, box);
      // The operation says who may; a line that has changed is said to its author only.
      await editComment(ctx, comment_id, { content: content ?? comment.content });
      return content !== undefined;
    });
    const notice = isKnown ? { kind: 'good' as const, text: tickedText(box) } : LINE_CHANGED;
    return { to: itemPath(item_id, `#comment-${comment_id}`), notice };
  },
  onError: ({ params }, { message }) => Promise.resolve({ to: itemPath(params.item_id), notice: { kind: 'bad', text: message } }),
});

const tickPage = page({
  method: 'post',
  path: '/app/items/:item_id/tick',
  access: 'task.write',
  params: WorkItemParams,
  form: z.object({ box: BoxName }),
  async handle({ ctx, params: { item_id }, form: { box } }) {
    const task = await tickTask(ctx, item_id, box);
    const to = itemPath(item_id);
    if (task === undefined) return { to, notice: LINE_CHANGED };
    if (task === 'unchanged') return { to };
    return { to, notice: { kind: 'good', text: tickedText(box), undo: { kind: 'revert_tasks', tasks: [task] } } };
  },
  onError: again('task'),
});

/**
 * Saves a form of a task. If it closes the task as a duplicate and names the original, both are saved or neither; if several tasks are called so, the page
 * asks which one.
 * @throws the errors of `saveTask`, `findRelationTarget` and `nameOriginal`
 */
async function saveTaskForm(ctx: Context, me: User, { itemId, changed: { duplicate_of, ...changed }, form }: Edit) {
  const save = (ctx: Context): Promise<ChangedTask | undefined> =>
    saveTask(ctx, me, { taskId: itemId, changed, version: form.version, toInput }, form);
  if (duplicate_of === undefined || form['status'] !== 'duplicate') {
    const task = Object.keys(changed).length > 0 && (await save(ctx));
    return task ? { undo: { kind: 'revert_tasks' as const, tasks: [task] } } : undefined;
  }
  const text = duplicate_of.trim();
  const sought = { itemId, type: 'task' as const };
  const original = text === '' ? null : await findRelationTarget(ctx, me, { field: 'duplicate_of', text, sought });
  if (typeof original === 'object' && original !== null) {
    const problem = { status: 200, message: 'Several tasks match. Choose the one that this task is a duplicate of.', fields: {} };
    return itemView(ctx, me, itemId, { form: 'task', typed: form, problem, choices: original });
  }
  const closed = await closeAsDuplicate(ctx, itemId, original, (ctx) =>
    Object.keys(changed).length > 0 ? save(ctx) : Promise.resolve(undefined),
  );
  const undo = undoClosed([closed], original);
  return undo && { undo, ...(!closed.task || changed['status'] ? { text: await describeClosed(ctx, me, original) } : {}) };
}

export const editPages: Page[] = [
  tickPage,
  tickCommentPage,
  editPage('task', TASK_BYTES, { fields: [...TASK_FIELDS, 'duplicate_of'], save: saveTaskForm }),
  editPage('project', PROJECT_BYTES, {
    fields: PROJECT_FIELDS,
    async save(ctx, _me, { itemId, changed, form: { version } }) {
      await updateProject(ctx, itemId, parseInput(UpdateProject, toInput(changed)), { version });
      const after = (await getWorkItem(ctx, itemId)).version;
      return after === version ? undefined : { undo: { kind: 'revert_project', project: [itemId, after] } };
    },
  }),
];
