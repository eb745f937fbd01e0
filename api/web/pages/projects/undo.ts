import { z } from 'zod';
import { restoreProject } from '../../../bulk/trash/restore-project.js';
import type { Context } from '../../../platform/context.js';
import { conflict, DomainError } from '../../../platform/errors.js';
import { deleteComment } from '../../../work/comments/delete-comment.js';
import { revertProject } from '../../../work/projects/revert-project.js';
import { createRelation } from '../../../work/relations/create-relation.js';
import { deleteRelation } from '../../../work/relations/delete-relation.js';
import { restoreTask } from '../../../work/tasks/write/restore-task.js';
import { revertTask } from '../../../work/tasks/write/revert-task.js';
import { trashTask } from '../../../work/tasks/write/trash-task.js';
import { page, type Page } from '../../page.js';
import { HOME } from '../../server/safe-path.js';
import { type Changed, type Undo, unpackUndo } from '../../server/undo.js';
import { backPath } from './paths.js';
import { eachTask } from './each-task.js';

const counted = (count: number): string => (count === 1 ? 'The change was undone' : `${count} changes were undone`);

/** Undoes one by one. @throws the first error if all fail; returns a text otherwise */
async function undoEach<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<string> {
  const { done, failed } = await eachTask(items, act);
  if (done.length === 0 && failed[0]) throw failed[0].error;
  const left = failed.length === 0 ? '' : `. ${failed.length} stayed: ${failed[0]?.error.message}`;
  return `${counted(done.length)}${left}`;
}

type Undoing = { [K in Undo['kind']]: (ctx: Context, undo: Extract<Undo, { kind: K }>) => Promise<unknown> };

/** How each kind of change is undone, through the operations of the API. A text is what the notice says. */
const UNDO: Undoing = {
  revert_tasks: (ctx, { tasks }) => undoEach(tasks, ([id, version]: Changed) => revertTask(ctx, id, version)),
  trash_task: (ctx, { task: [id, version] }) => trashTask(ctx, id, version),
  restore_tasks: (ctx, { ids }) => undoEach(ids, (id) => restoreTask(ctx, id)),
  revert_project: (ctx, { project: [id, version] }) => revertProject(ctx, id, version),
  restore_project: (ctx, { id }) => restoreProject(ctx, id),
  delete_relation: (ctx, { relationId }) => deleteRelation(ctx, relationId),
  create_relation: (ctx, { relation }) => createRelation(ctx, relation),
  delete_comment: (ctx, { commentId }) => deleteComment(ctx, commentId),
};

/** Says why nothing was undone. */
function reasonOf(error: unknown): string {
  if (!(error instanceof DomainError) || error.status >= 500) throw error;
  const isStale = 'changed_since' in error.extra && typeof error.detail === 'string';
  return `Nothing was undone. ${isStale ? error.detail : error.message}.`.replace(/\.\.$/, '.');
}

export const undoPages: Page[] = [
  page({
    method: 'post',
    path: '/app/undo',
    access: 'task.write',
    form: z.object({ undo: z.string().max(4_096), back: z.string().max(2_000).optional() }),
    async handle({ ctx, form }) {
      const binding = ctx.actor.type === 'user' ? ctx.actor.sessionId : '';
      const undo = unpackUndo(ctx.config, binding, form.undo);
      const to = backPath(form.back, HOME);
      try {
        if (!undo) throw conflict('This session did not make the change');
        const said = await UNDO[undo.kind](ctx, undo as never);
        return { to, notice: { kind: 'good', text: typeof said === 'string' ? said : counted(1) } };
      } catch (error) {
        return { to, notice: { kind: 'bad', text: reasonOf(error) } };
      }
    },
  }),
];
