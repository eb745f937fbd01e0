import { z } from 'zod';
import type { User } from '../../../identity/auth/schema.js';
import { restoreProject } from '../../../bulk/trash/restore-project.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { conflict, DomainError } from '../../../platform/errors.js';
import { deleteComment } from '../../../work/comments/delete-comment.js';
import { addTasksToCycle } from '../../../work/cycles/tasks/add-tasks.js';
import { removeTaskFromCycle } from '../../../work/cycles/tasks/remove-task.js';
import { revertProject } from '../../../work/projects/revert-project.js';
import { createRelation } from '../../../work/relations/create-relation.js';
import { deleteRelation } from '../../../work/relations/delete-relation.js';
import { findOriginals } from '../../../work/relations/find-originals.js';
import { nameOriginal } from '../../../work/relations/name-original.js';
import { readTaskStates } from '../../../work/tasks/read/read-states.js';
import { restoreTask } from '../../../work/tasks/write/restore-task.js';
import { revertTask } from '../../../work/tasks/write/revert-task.js';
import { staleVersion } from '../../../work/tasks/write/stale-version.js';
import { trashTask } from '../../../work/tasks/write/trash-task.js';
import { type Notice, page, type Page } from '../../page.js';
import { HOME } from '../../server/safe-path.js';
import { type ChangedTask, type Undo, UNDO_MINUTES, unpackUndo } from '../../server/undo.js';
import { plainMessage } from '../../wording/plain-message.js';
import { backPath } from './paths.js';
import { describeLeft, eachTask } from './each-task.js';

const counted = (count: number): string => (count === 1 ? 'The change was undone' : `${count} changes were undone`);

/**
 * Undoes one by one, and says what was undone, what was not and why. What a failure of ours has left can be undone from there.
 * @throws the error of a single item
 */
async function undoEach<T extends string | ChangedTask>(
  ctx: Context,
  items: readonly T[],
  act: (item: T) => Promise<unknown>,
  toUndo: (items: T[]) => Undo,
): Promise<Notice> {
  const found = await eachTask(ctx, items, act);
  const { done, failed, untried } = found;
  if (items.length === 1 && failed[0]) throw failed[0].error;
  const left = await describeLeft(ctx, found, 'changed again since');
  if (left === '') return { kind: 'good', text: counted(done.length) };
  const broken = failed.filter(({ error }) => error.status >= 500).map(({ item }) => item);
  const head = done.length > 0 ? `${counted(done.length)}. ` : broken.length > 0 ? '' : 'Nothing was undone. ';
  const rest = [...broken, ...untried];
  return { kind: 'bad', text: `${head}${left}`, ...(rest.length > 0 && { undo: toUndo(rest) }) };
}

async function undoOne(undoing: Promise<unknown>): Promise<Notice> {
  await undoing;
  return { kind: 'good', text: counted(1) };
}

/**
 * Gives a task its earlier values and its earlier cycle, both or neither, if it still has the version of the change.
 * @throws the errors of `revertTask`, `addTasksToCycle` and `removeTaskFromCycle`
 */
async function revertChanged(ctx: Context, [id, version, from, hasFields]: ChangedTask): Promise<void> {
  if (from === undefined) return void (await revertTask(ctx, id, version));
  await inTransaction(ctx, async (ctx) => {
    const state = (await readTaskStates(ctx, [id])).get(id);
    if (state && state.version !== version) {
      throw await staleVersion(ctx, { type: 'task', id, expected: version, version: state.version });
    }
    if (from !== '') await addTasksToCycle(ctx, from, [id]);
    else if (state?.cycle_id) await removeTaskFromCycle(ctx, state.cycle_id, id);
    if (hasFields) await revertTask(ctx, id, version - 1, version + 1);
  });
}

/**
 * Gives a task that was closed as a duplicate back what it named before, and its earlier values, both or neither.
 * @throws RESOURCE_CONFLICT it names another original now | the errors of `nameOriginal` and `revertChanged`
 */
function revertDuplicate(ctx: Context, task: ChangedTask, { original, before }: Extract<Undo, { kind: 'revert_duplicates' }>) {
  const [id, version] = task;
  const [, named] = before.find(([one]) => one === id) ?? [];
  return inTransaction(ctx, async (ctx) => {
    if (named !== undefined) {
      const now = (await findOriginals(ctx, [id])).get(id)?.original_id ?? '';
      if (now !== original) throw conflict('Its relation to the other task has changed since');
      await nameOriginal(ctx, id, named || null);
    }
    if (version > 0) await revertChanged(ctx, task);
  });
}

type Undoing = { [K in Undo['kind']]: (ctx: Context, undo: Extract<Undo, { kind: K }>) => Promise<Notice> };

/** How each kind of change is undone, through the operations of the API. */
const UNDO: Undoing = {
  revert_tasks: (ctx, { kind, tasks }) =>
    undoEach(
      ctx,
      tasks,
      (task) => revertChanged(ctx, task),
      (some) => ({ kind, tasks: some }),
    ),
  revert_duplicates: (ctx, undo) =>
    undoEach(
      ctx,
      undo.tasks,
      (task) => revertDuplicate(ctx, task, undo),
      (some) => ({ ...undo, tasks: some }),
    ),
  trash_task: (ctx, { task: [id, version] }) => undoOne(trashTask(ctx, id, version)),
  restore_tasks: (ctx, { kind, ids }) =>
    undoEach(
      ctx,
      ids,
      (id) => restoreTask(ctx, id),
      (some) => ({ kind, ids: some }),
    ),
  revert_project: (ctx, { project: [id, version] }) => undoOne(revertProject(ctx, id, version)),
  restore_project: (ctx, { id }) => undoOne(restoreProject(ctx, id)),
  delete_relation: (ctx, { relationId }) => undoOne(deleteRelation(ctx, relationId)),
  create_relation: (ctx, { relation }) => undoOne(createRelation(ctx, relation)),
  delete_comment: (ctx, { commentId }) => undoOne(deleteComment(ctx, commentId)),
};
/** Says why nothing was undone. */
function reasonOf(error: unknown, me: User | null): string {
  if (!(error instanceof DomainError) || error.status >= 500) throw error;
  const isStale = 'changed_since' in error.extra && typeof error.detail === 'string';
  return `Nothing was undone. ${plainMessage(isStale ? (error.detail as string) : error.message, me)}.`.replace(/\.\.$/, '.');
}

export const undoPages: Page[] = [
  page({
    method: 'post',
    path: '/app/undo',
    access: 'task.write',
    form: z.object({ undo: z.string().max(4_096), back: z.string().max(2_000).optional() }),
    async handle({ ctx, me, form }) {
      const binding = ctx.actor.type === 'user' ? ctx.actor.sessionId : '';
      const undo = unpackUndo(ctx.config, binding, form.undo);
      const to = backPath(form.back, HOME);
      try {
        if (!undo) throw conflict('This session did not make the change');
        if (undo === 'expired') throw conflict(`A change can be undone for ${UNDO_MINUTES} minutes`);
        return { to, notice: await UNDO[undo.kind](ctx, undo as never) };
      } catch (error) {
        return { to, notice: { kind: 'bad', text: reasonOf(error, me) } };
      }
    },
  }),
];
