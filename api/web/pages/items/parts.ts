import { z } from 'zod';
import type { IncomingFile } from '../../../platform/endpoint/read-upload.js';
import { Id, Text } from '../../../platform/fields.js';
import { deleteComment } from '../../../work/comments/delete-comment.js';
import { getWorkItem } from '../../../work/items/get-work-item.js';
import { findFile } from '../../../work/items/files/get-file.js';
import { isPicture, MAX_FILE_BYTES } from '../../../work/items/files/rules.js';
import { uploadFile } from '../../../work/items/files/upload-file.js';
import { WorkItemParams } from '../../../work/items/schema.js';
import { trashProject } from '../../../work/projects/trash-project.js';
import { createRelation } from '../../../work/relations/create-relation.js';
import { deleteRelation } from '../../../work/relations/delete-relation.js';
import { CreateRelation } from '../../../work/relations/schema.js';
import { trashTask } from '../../../work/tasks/write/trash-task.js';
import { openSession } from '../../../agent/sessions/link-item.js';
import { truncateText } from '../../../automation/runs/record/rules.js';
import type { Context } from '../../../platform/context.js';
import { invalidFields, notFound } from '../../../platform/errors.js';
import { page, type Page, requireUser, type View } from '../../page.js';
import { listFields, Version } from '../projects/form-fields.js';
import { itemPath, projectPath } from '../projects/paths.js';
import { MAX_LINE, quickAdd } from '../projects/quick-add.js';
import { findRelationTarget } from './relation-target.js';
import { again, itemView } from './show-item.js';

interface Place {
  type: string;
  title: string;
  team_id: string;
  project_id: string | null;
}

/** Reads where an item is. @throws RESOURCE_NOT_FOUND also for an item of another type | PERMISSION_DENIED not a member, or a guest */
async function getPlace(ctx: Context, itemId: string, type?: 'task' | 'project'): Promise<Place> {
  const item = JSON.parse((await getWorkItem(ctx, itemId, 'item.write')).json) as Place;
  if (type !== undefined && item.type !== type) throw notFound(type === 'task' ? 'Task' : 'Project');
  return item;
}

/** Uploads a file into the project of a task and attaches it. @throws the errors of `uploadFile` and `createRelation` */
async function attachFile(ctx: Context, taskId: string, file: IncomingFile): Promise<{ file_id: string; name: string }> {
  const { team_id, project_id } = await getPlace(ctx, taskId, 'task');
  const { file_id, name } = await uploadFile(ctx, { team_id, project_id }, file);
  await createRelation(ctx, { source_id: file_id, target_id: taskId, relation_type: 'attached_to' });
  return { file_id, name };
}

/** Returns the Markdown that shows a file of ours in a text: a picture, or a link to its page. */
async function fileMarkdown(ctx: Context, { file_id, name }: { file_id: string; name: string }): Promise<string> {
  const text = name.replaceAll(/[\\[\]]/g, String.raw`\$&`);
  const { stored } = await findFile(ctx, file_id);
  return isPicture(stored.sniffed_type) ? `![${text}](/app/files/${file_id}/picture)` : `[${text}](${itemPath(file_id)})`;
}

/** An answer to the script that uploads what is pasted or dropped. */
const pasted = (text: string): View => ({ view: 'items/pasted', title: 'Attached', data: { text }, isFragment: true });

/** Characters of a task's title that name a session about it. */
const MAX_SESSION_TITLE = 80;

const RelationForm = z.object({
  relation_type: CreateRelation.shape.relation_type,
  target: Text.trim().min(1).max(500),
});

/** Lists and parts of an item: subtasks, files, relations, and the item as a whole. */
export const itemPartPages: Page[] = [
  page({
    method: 'post',
    path: '/app/items/:item_id/subtasks',
    access: 'task.write',
    params: WorkItemParams,
    form: z.object({ text: Text.max(MAX_LINE) }),
    async handle({ ctx, me, params, form }) {
      const { team_id, project_id } = await getPlace(ctx, params.item_id, 'task');
      const place = { team_id, project_id: project_id as string, parent_task_id: params.item_id };
      const { notice } = await quickAdd(ctx, requireUser({ me }), form.text, place);
      return { to: itemPath(params.item_id), notice };
    },
    onError: again('subtask'),
  }),
  page({
    method: 'post',
    path: '/app/items/:item_id/files',
    access: 'item.write',
    limit: 'file_upload',
    params: WorkItemParams,
    fileBytes: MAX_FILE_BYTES,
    async handle({ ctx, params, file }) {
      if (!file?.filename) throw invalidFields([{ field: 'file', message: 'Choose a file', type: 'required' }]);
      const { name } = await attachFile(ctx, params.item_id, file);
      return { to: itemPath(params.item_id, '#h-relations'), notice: { kind: 'good', text: `${name} is attached` } };
    },
    // A file that is too large, or none, is said at its form: the address stays that of the task.
    onError(visit, problem) {
      if (problem.status !== 413 && problem.status !== 422) return again('file')(visit, problem);
      const text = Object.values(problem.fields)[0] ?? problem.message;
      return Promise.resolve({ to: itemPath(visit.params.item_id, '#attach'), notice: { kind: 'bad', text, at: 'attach' } });
    },
  }),
  page({
    method: 'post',
    path: '/app/items/:item_id/files/pasted',
    access: 'item.write',
    limit: 'file_upload',
    params: WorkItemParams,
    fileBytes: MAX_FILE_BYTES,
    async handle({ ctx, params, file }) {
      if (!file?.filename) throw invalidFields([{ field: 'file', message: 'Choose a file', type: 'required' }]);
      return pasted(await fileMarkdown(ctx, await attachFile(ctx, params.item_id, file)));
    },
    onError: (_visit, problem) => Promise.resolve(pasted(Object.values(problem.fields)[0] ?? problem.message)),
  }),
  page({
    method: 'post',
    path: '/app/items/:item_id/ask',
    access: 'agent.link',
    limit: 'ai_session_create',
    params: WorkItemParams,
    async handle({ ctx, params: { item_id } }) {
      const { title } = await getPlace(ctx, item_id, 'task');
      const named = { title: truncateText(title, MAX_SESSION_TITLE) };
      return { to: `/app/agent/${await openSession(ctx, named, { item_type: 'task', item_id })}` };
    },
    onError: ({ params }, { message }) =>
      Promise.resolve({ to: itemPath(params.item_id), notice: { kind: 'bad', text: message } }),
  }),
  page({
    method: 'post',
    path: '/app/items/:item_id/relations',
    access: 'relation.write',
    params: WorkItemParams,
    form: RelationForm,
    async handle({ ctx, me, params, form }) {
      await getPlace(ctx, params.item_id);
      const person = requireUser({ me });
      const named = { field: 'target', text: form.target, sought: { itemId: params.item_id } };
      const target = await findRelationTarget(ctx, person, named);
      if (typeof target !== 'string') {
        const problem = { status: 200, message: 'Several items match. Choose one.', fields: {} };
        return itemView(ctx, person, params.item_id, { form: 'relation', typed: form, problem, choices: target });
      }
      const input = { source_id: params.item_id, target_id: target, relation_type: form.relation_type };
      const { created, relation } = await createRelation(ctx, input);
      if (!created) return { to: itemPath(params.item_id), notice: { kind: 'good', text: 'These items are related already' } };
      const undo = { kind: 'delete_relation' as const, relationId: relation.relation_id };
      return { to: itemPath(params.item_id), notice: { kind: 'good', text: 'Relation added', undo } };
    },
    onError: again('relation'),
  }),
  page({
    method: 'post',
    path: '/app/items/:item_id/relations/remove',
    access: 'relation.write',
    params: WorkItemParams,
    form: CreateRelation.extend({ relation_id: Text.max(200) }),
    async handle({ ctx, params, form: { relation_id, ...relation } }) {
      await deleteRelation(ctx, relation_id);
      const undo = { kind: 'create_relation' as const, relation };
      return { to: itemPath(params.item_id), notice: { kind: 'good', text: 'Relation removed', undo } };
    },
    onError: ({ params }, { message }) =>
      Promise.resolve({ to: itemPath(params.item_id), notice: { kind: 'bad', text: message } }),
  }),
  page({
    method: 'post',
    path: '/app/items/:item_id/comments/delete',
    access: 'comment.write',
    params: WorkItemParams,
    form: z.object({ comment_id: Id }),
    async handle({ ctx, params, form }) {
      await deleteComment(ctx, form.comment_id);
      return { to: itemPath(params.item_id, '#h-comments'), notice: { kind: 'good', text: 'Comment deleted' } };
    },
    onError: ({ params }, { message }) =>
      Promise.resolve({ to: itemPath(params.item_id), notice: { kind: 'bad', text: message } }),
  }),
  page({
    method: 'post',
    path: '/app/items/:item_id/delete',
    access: 'item.write',
    params: WorkItemParams,
    form: z.object({ version: Version }),
    async handle({ ctx, params, form }) {
      const { type, title, project_id, team_id } = await getPlace(ctx, params.item_id);
      if (type === 'project') {
        await trashProject(ctx, params.item_id, form.version);
        const undo = { kind: 'restore_project' as const, id: params.item_id };
        return { to: `/app/projects?team=${team_id}`, notice: { kind: 'good', text: `${title} is in the trash`, undo } };
      }
      await trashTask(ctx, params.item_id, form.version);
      const undo = { kind: 'restore_tasks' as const, ids: [params.item_id] };
      return { to: projectPath(project_id as string), notice: { kind: 'good', text: `“${title}” is in the trash`, undo } };
    },
    onError({ params }, { message, changedSince }) {
      const changed = changedSince && (listFields(changedSince.fields) || 'Something');
      const text = changed
        ? `Nothing was deleted. ${changed} changed after you opened the page; look before you delete.`
        : message;
      return Promise.resolve({ to: itemPath(params.item_id), notice: { kind: 'bad', text } });
    },
  }),
];
