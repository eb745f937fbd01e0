import { z } from 'zod';
import { followTask } from '../../../work/tasks/followers/follow-task.js';
import { addComment } from '../../../work/comments/add-comment.js';
import { editComment } from '../../../work/comments/edit-comment.js';
import { AddComment, EditComment } from '../../../work/comments/schema.js';
import type { Context } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { Id } from '../../../platform/fields.js';
import { downloadHeaders, pictureHeaders } from '../../../work/items/files/download-headers.js';
import { findFile, openFile } from '../../../work/items/files/get-file.js';
import { FileParams } from '../../../work/items/files/schema.js';
import { getWorkItem } from '../../../work/items/get-work-item.js';
import { WorkItemParams } from '../../../work/items/schema.js';
import { isPicture } from '../../../work/items/files/rules.js';
import { MAX_CONTENT_BYTES } from '../../../work/items/rules.js';
import { UpdateNote } from '../../../work/items/notes/schema.js';
import { updateNote } from '../../../work/items/notes/update-note.js';
import { findNamedTasks, parseTaskName } from '../../../work/search/named-tasks.js';
import { markNotifications } from '../../../work/notifications/mark-notifications.js';
import { page, type Page, type PageResult, requireUser, type View } from '../../page.js';
import { Typed, Version } from '../projects/form-fields.js';
import { itemPath } from '../projects/paths.js';
import { saveFields } from './field-form.js';
import { again, itemView, trashedView } from './show-item.js';
import { loadWaiting } from './waiting.js';

/**
 * Where an item is, for the form of its fields.
 * @throws RESOURCE_NOT_FOUND unknown or in the trash | PERMISSION_DENIED not a member
 */
async function getPlace(ctx: Context, itemId: string): Promise<{ item_id: string; type: string; team_id: string }> {
  const item = JSON.parse((await getWorkItem(ctx, itemId)).json) as { type: string; team_id: string };
  return { item_id: itemId, type: item.type, team_id: item.team_id };
}

/** Returns where the task is that people call by a text, or where all of them are; null if there is none, or the text is no such name. */
async function findByName(ctx: Context, itemId: string): Promise<{ to: string } | null> {
  const name = parseTaskName(itemId);
  const [first, ...others] = name === null ? [] : await findNamedTasks(ctx, name);
  if (first === undefined) return null;
  return { to: others.length === 0 ? itemPath(first.item_id) : `/app/search?q=${itemId}` };
}

/** A byte becomes up to three in a form. */
const FORM_BYTES = 3 * MAX_CONTENT_BYTES + 16 * 1024;

/** Adds a comment, or a reply, and leads to it. */
async function comment(ctx: Context, itemId: string, typed: AddComment): Promise<PageResult> {
  const { comment_id } = await addComment(ctx, itemId, typed);
  const text = typed.parent_comment_id ? 'Reply added' : 'Comment added';
  const notice = { kind: 'good' as const, text, undo: { kind: 'delete_comment' as const, commentId: comment_id } };
  return { to: itemPath(itemId, `#comment-${comment_id}`), notice };
}

/** Leads from the name of a task to its page. */
const namePage = (path: `/app${string}`, isNamed?: (params: Record<string, string>) => boolean): Page =>
  page({
    method: 'get',
    path,
    access: 'item.read',
    params: z.object({ task_name: z.string().max(20) }),
    ...(isNamed && { isNamed }),
    async handle({ ctx, params }) {
      const place = await findByName(ctx, params.task_name);
      if (place === null) throw notFound('Task');
      return place;
    },
  });

export const itemPages: Page[] = [
  page({
    method: 'get',
    path: '/app/items/:item_id',
    access: 'item.read',
    params: WorkItemParams,
    query: z.object({ live: z.unknown().optional() }),
    async handle({ ctx, me, params, query }) {
      const person = requireUser({ me });
      let view: View;
      try {
        view = await itemView(ctx, person, params.item_id);
      } catch (error) {
        return (await findByName(ctx, params.item_id)) ?? trashedView(ctx, person, params.item_id, error);
      }
      // Opening a task marks its notifications as read, but not while impersonating, nor when the page asks by itself.
      if (!person.impersonated_by && query.live === undefined) await markNotifications(ctx, { item_id: params.item_id });
      return view;
    },
  }),
  // What waits about the task, which its page asks for when something may have changed.
  page({
    method: 'get',
    path: '/app/items/:item_id/waiting',
    access: 'item.read',
    params: WorkItemParams,
    query: z.object({ live: z.unknown().optional() }),
    async handle({ ctx, me, params: { item_id } }) {
      await getWorkItem(ctx, item_id);
      const data = { approvals: await loadWaiting(ctx, requireUser({ me }), item_id), base: itemPath(item_id) };
      return { view: 'items/waiting', title: 'Waits for approval', isFragment: true, data };
    },
  }),
  // Clients choose ids of tasks, so one may be the name of another task: what texts link has an address of its own, and so has what people type.
  namePage('/app/tasks/:task_name'),
  namePage('/app/:task_name', ({ task_name = '' }) => parseTaskName(task_name) !== null),
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
    method: 'get',
    path: '/app/files/:file_id/picture',
    access: 'item.read',
    params: FileParams,
    async handle({ ctx, params }) {
      const found = await findFile(ctx, params.file_id);
      const { size, sniffed_type } = found.stored;
      if (!isPicture(sniffed_type)) throw notFound('Picture');
      const headers = { ...pictureHeaders(found.item.title, sniffed_type), 'Content-Length': String(size) };
      return { bytes: await openFile(ctx, found), headers };
    },
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
      const saved = await saveFields(ctx, await getPlace(ctx, params.item_id), form);
      const text = saved ? `${new Intl.ListFormat('en').format(saved.names)} changed` : 'Nothing was changed';
      return { to: itemPath(params.item_id), notice: { kind: 'good', text, undo: saved?.undo } };
    },
    onError: again('fields'),
  }),
  page({
    method: 'post',
    path: '/app/items/:item_id/follow',
    access: 'task.follow',
    params: WorkItemParams,
    form: z.object({ follows: z.enum(['yes', 'no']) }),
    async handle({ ctx, params, form }) {
      const { follows } = await followTask(ctx, params.item_id, form.follows === 'yes');
      const text = follows
        ? 'You follow the task: its comments, and when it is closed or reopened'
        : 'You hear no more of the task, unless you are mentioned or it is assigned to you';
      return { to: itemPath(params.item_id), notice: { kind: 'good', text } };
    },
  }),
  page({
    method: 'post',
    path: '/app/items/:item_id/comments',
    access: 'comment.write',
    params: WorkItemParams,
    form: z.object({ content: Typed.pipe(AddComment.shape.content) }),
    handle: ({ ctx, params: { item_id }, form: { content } }) => comment(ctx, item_id, { content }),
    onError: again('comment'),
  }),
  page({
    method: 'post',
    path: '/app/items/:item_id/comments/:comment_id/replies',
    access: 'comment.write',
    params: WorkItemParams.extend({ comment_id: Id }),
    form: z.object({ content: Typed.pipe(AddComment.shape.content) }),
    handle: ({ ctx, params: { item_id, comment_id }, form: { content } }) =>
      comment(ctx, item_id, { content, parent_comment_id: comment_id }),
    onError: (visit, problem) =>
      again('comment')({ ...visit, form: { ...visit.form, parent_comment_id: visit.params.comment_id } }, problem),
  }),
  page({
    method: 'post',
    path: '/app/items/:item_id/comments/edit',
    access: 'comment.write',
    params: WorkItemParams,
    form: z.object({ comment_id: Id, content: Typed.pipe(EditComment.shape.content) }),
    async handle({ ctx, params, form: { comment_id, content } }) {
      await editComment(ctx, comment_id, { content });
      return { to: itemPath(params.item_id, `#comment-${comment_id}`), notice: { kind: 'good', text: 'Comment saved' } };
    },
    onError: again('edit-comment'),
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
      return { to: itemPath(params.item_id), notice: { kind: 'good', text: 'Note saved' } };
    },
    onError: again('note'),
  }),
];
