import { z } from 'zod';
import { addComment } from '../../../work/comments/add-comment.js';
import { AddComment } from '../../../work/comments/schema.js';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { downloadHeaders } from '../../../work/items/files/download-headers.js';
import { findFile, openFile } from '../../../work/items/files/get-file.js';
import { FileParams } from '../../../work/items/files/schema.js';
import { getWorkItem } from '../../../work/items/get-work-item.js';
import { WorkItemParams } from '../../../work/items/schema.js';
import { MAX_CONTENT_BYTES } from '../../../work/items/rules.js';
import { UpdateNote } from '../../../work/items/notes/schema.js';
import { updateNote } from '../../../work/items/notes/update-note.js';
import { TASK_STATUSES } from '../../../work/tasks/rules.js';
import { updateTask } from '../../../work/tasks/write/update-task.js';
import { type FormError, page, type Page, requireUser, type View } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { formText, saveFields } from './field-form.js';
import { loadItem } from './load-item.js';

const buildPath = (itemId: string, anchor = ''): string => `/app/items/${encodeURIComponent(itemId)}${anchor}`;

/** Versions are numbers in text. */
const Version = z.coerce.number().pipe(z.int().min(1).max(2_147_483_647));

/** Values that the user typed into a rejected form, and why it was rejected. */
interface RejectedForm {
  form: 'status' | 'comment' | 'note' | 'fields';
  typed: Fields;
  problem: FormError;
}

async function itemView(ctx: Context, me: User, itemId: string, rejected?: RejectedForm): Promise<View> {
  const data = await loadItem(ctx, me, itemId);
  const status = rejected && { status: rejected.problem.status };
  return {
    view: 'items/item',
    title: data.item.title,
    data: { ...data, rejected, statuses: TASK_STATUSES, formText },
    ...status,
  };
}

type FormVisit = { ctx: Context; me: User | null; params: { item_id: string }; form: Fields };

/** Shows the page again with what was typed. */
const again =
  (form: RejectedForm['form']) =>
  (visit: FormVisit, problem: FormError): Promise<View> =>
    itemView(visit.ctx, requireUser(visit), visit.params.item_id, { form, typed: visit.form, problem });

/**
 * Where an item is, for the form of its fields.
 * @throws RESOURCE_NOT_FOUND unknown or in the trash | PERMISSION_DENIED not a member
 */
async function getPlace(ctx: Context, itemId: string): Promise<{ item_id: string; type: string; team_id: string }> {
  const item = JSON.parse((await getWorkItem(ctx, itemId)).json) as { type: string; team_id: string };
  return { item_id: itemId, type: item.type, team_id: item.team_id };
}

/** Browsers send every line break of a text as CRLF. */
const Typed = z.string().transform((text) => text.replaceAll('\r\n', '\n'));

/** A byte becomes up to three in a form. */
const FORM_BYTES = 3 * MAX_CONTENT_BYTES + 16 * 1024;

export const itemPages: Page[] = [
  page({
    method: 'get',
    path: '/app/items/:item_id',
    access: 'item.read',
    params: WorkItemParams,
    handle: ({ ctx, me, params }) => itemView(ctx, requireUser({ me }), params.item_id),
  }),
  page({
    method: 'get',
    path: '/app/files/:file_id',
    access: 'item.read',
    params: FileParams,
    async handle({ ctx, params }) {
      const found = await findFile(ctx, params.file_id);
      const { size, content_type } = found.stored;
      const headers = { ...downloadHeaders(found.item.title, content_type), 'Content-Length': String(size) };
      return { bytes: await openFile(ctx, found), headers };
    },
  }),
  page({
    method: 'post',
    path: '/app/items/:item_id/status',
    access: 'task.write',
    params: WorkItemParams,
    form: z.object({ status: z.enum(TASK_STATUSES), version: Version }),
    async handle({ ctx, params, form: { status, version } }) {
      await updateTask(ctx, params.item_id, { status, version });
      return { to: buildPath(params.item_id), notice: { kind: 'good', text: 'Status changed' } };
    },
    onError: again('status'),
  }),
  page({
    method: 'post',
    path: '/app/items/:item_id/fields',
    access: 'custom_field.set',
    params: WorkItemParams,
    formBytes: FORM_BYTES,
    // One entry a field of the team, which only the operation knows.
    form: z.record(z.string(), z.unknown()),
    async handle({ ctx, params, form }) {
      await saveFields(ctx, await getPlace(ctx, params.item_id), form);
      return { to: buildPath(params.item_id), notice: { kind: 'good', text: 'Fields saved' } };
    },
    onError: again('fields'),
  }),
  page({
    method: 'post',
    path: '/app/items/:item_id/comments',
    access: 'comment.write',
    params: WorkItemParams,
    form: z.object({ content: Typed.pipe(AddComment.shape.content), parent_comment_id: z.uuid().optional() }),
    async handle({ ctx, params, form: { content, parent_comment_id } }) {
      const comment = await addComment(ctx, params.item_id, { content, parent_comment_id });
      return { to: buildPath(params.item_id, `#comment-${comment.comment_id}`) };
    },
    onError: again('comment'),
  }),
  page({
    method: 'post',
    path: '/app/items/:item_id/note',
    access: 'item.write',
    params: WorkItemParams,
    formBytes: FORM_BYTES,
    form: z.object({
      title: UpdateNote.shape.title.unwrap(),
      content: Typed.pipe(UpdateNote.shape.content.unwrap()),
      version: Version,
    }),
    async handle({ ctx, params, form }) {
      await updateNote(ctx, params.item_id, form);
      return { to: buildPath(params.item_id), notice: { kind: 'good', text: 'Note saved' } };
    },
    onError: again('note'),
  }),
];
