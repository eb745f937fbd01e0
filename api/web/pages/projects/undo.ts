import { z } from 'zod';
import type { User } from '../../../identity/auth/schema.js';
import { restoreProject } from '../../../bulk/trash/restore-project.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { conflict, DomainError } from '../../../platform/errors.js';
import { isAsAtVersion } from '../../../work/graph/is-as-at-version.js';
import { deleteComment } from '../../../work/comments/delete-comment.js';
import { lockCycle, readCycle } from '../../../work/cycles/read-cycle.js';
import { addTasksToCycle } from '../../../work/cycles/tasks/add-tasks.js';
import { removeTaskFromCycle } from '../../../work/cycles/tasks/remove-task.js';
import { revertProject } from '../../../work/projects/revert-project.js';
import { deleteUpdate } from '../../../work/projects/updates/delete-update.js';
import { withdrawAssignment } from '../../../work/notifications/withdraw-assignment.js';
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
import { type Changed, type ChangedTask, type Undo, UNDO_MINUTES, unpackUndo, type ValuedTask } from '../../server/undo.js';
import { plainMessage } from '../../wording/plain-message.js';
import { revertFields } from '../items/field-form.js';
import { backPath } from './paths.js';
import { describeLeft, eachTask } from './each-task.js';

/** What an operation did: its notice, and what takes that back again. */
interface Undone {
  done: number;
  /** Why the rest was left; empty if all was done. */
  left: string;
  /** Takes back what was done. */
  reverse?: Undo | undefined;
  /** Does the rest: what a failure of ours has left. */
  rest?: Undo | undefined;
}

/**
 * Undoes one by one, and says what was not and why. What a failure of ours has left can be undone from there.
 * @throws the error of a single item
 */
async function undoEach<T extends string | ChangedTask | ValuedTask, R>(
  ctx: Context,
  items: readonly T[],
  act: (item: T) => Promise<R>,
  { toUndo, toReverse }: { toUndo: (items: T[]) => Undo; toReverse?: (results: R[]) => Undo | Promise<Undo> },
): Promise<Undone> {
  const found = await eachTask(ctx, items, act);
  const { done, failed, untried } = found;
  if (items.length === 1 && failed[0]) throw failed[0].error;
  const left = await describeLeft(ctx, found, 'changed again since');
  const results = done.map(({ result }) => result);
  const reverse = results.length > 0 ? await toReverse?.(results) : undefined;
  const broken = failed.filter(({ error }) => error.status >= 500).map(({ item }) => item);
  const rest = [...broken, ...untried];
  return { done: done.length, left, reverse, rest: rest.length > 0 ? toUndo(rest) : undefined };
}

async function undoOne(undoing: Promise<unknown>): Promise<Undone> {
  await undoing;
  return { done: 1, left: '' };
}

/** Returns the version that a task has to have: the present one, if since the change everything else was undone. */
async function expectedVersion(ctx: Context, [id, version]: readonly [string, number, ...unknown[]]): Promise<number> {
  const now = (await readTaskStates(ctx, [id])).get(id)?.version ?? version;
  const isSame = now > version && (await isAsAtVersion(ctx, { type: 'task', id, version }, now));
  return isSame ? now : version;
}

/**
 * Gives a task its earlier values and its earlier cycle, both or neither, if it is as the change left it. Returns what takes that back.
 * @throws the errors of `revertTask`, `addTasksToCycle` and `removeTaskFromCycle`
 */
async function revertChanged(ctx: Context, task: ChangedTask): Promise<ChangedTask> {
  const [id, version, from, hasFields = 0] = task;
  const expected = await expectedVersion(ctx, task);
  if (from === undefined) return [id, await revertTask(ctx, id, version, expected)];
  return inTransaction(ctx, async (ctx) => {
    const state = (await readTaskStates(ctx, [id])).get(id);
    const into = from || state?.cycle_id;
    if (into) {
      // Writers lock cycles before tasks.
      await readCycle(ctx, 'cycle.write', into);
      await lockCycle(ctx, into);
    }
    if (state && state.version !== expected) {
      throw await staleVersion(ctx, { type: 'task', id, expected: version, version: state.version });
    }
    if (hasFields) await revertTask(ctx, id, version - 1, expected);
    const now = (await readTaskStates(ctx, [id])).get(id);
    if (from !== '') await addTasksToCycle(ctx, from, [id]);
    else if (now?.cycle_id) await removeTaskFromCycle(ctx, now.cycle_id, id);
    return [id, expected + (hasFields ? 2 : 1), state?.cycle_id ?? '', hasFields];
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

/** Gives a task back the values of its custom fields, and its earlier values, both or neither. Returns what takes that back. */
function revertValues(ctx: Context, [id, version, values, ...rest]: ValuedTask): Promise<ValuedTask> {
  return inTransaction(ctx, async (ctx) => {
    const [, left, ...others] = version > 0 ? await revertChanged(ctx, [id, version, ...rest]) : ([id, 0] as Changed);
    const undone = values.length > 0 ? (await revertFields(ctx, { kind: 'set_fields', type: 'task', id, values })).values : [];
    return [id, left, undone, ...others];
  });
}

async function readVersions(ctx: Context, ids: string[]): Promise<Undo> {
  const states = await readTaskStates(ctx, ids);
  return { kind: 'trash_tasks', tasks: [...states.values()].map(({ task_id, version }): Changed => [task_id, version]) };
}

type Undoing = { [K in Undo['kind']]: (ctx: Context, undo: Extract<Undo, { kind: K }>) => Promise<Undone> };

/** Trashes a task whose creation is undone, and withdraws that it was assigned. @throws the errors of `trashTask` */
async function trashMade(ctx: Context, task: ChangedTask): Promise<string> {
  const version = await expectedVersion(ctx, task);
  return inTransaction(ctx, async (ctx) => {
    await trashTask(ctx, task[0], version);
    await withdrawAssignment(ctx, task[0], 'assignee');
    return task[0];
  });
}

/** How each kind of change is undone, through the operations of the API. */
const UNDO: Undoing = {
  revert_tasks: (ctx, { kind, tasks }) =>
    undoEach(ctx, tasks, (task) => revertChanged(ctx, task), {
      toUndo: (some) => ({ kind, tasks: some }),
      toReverse: (some) => ({ kind, tasks: some }),
    }),
  revert_fields: (ctx, { kind, tasks }) =>
    undoEach(ctx, tasks, (one) => revertValues(ctx, one), {
      toUndo: (some) => ({ kind, tasks: some }),
      toReverse: (some) => ({ kind, tasks: some }),
    }),
  revert_duplicates: (ctx, undo) =>
    undoEach(ctx, undo.tasks, (task) => revertDuplicate(ctx, task, undo), { toUndo: (some) => ({ ...undo, tasks: some }) }),
  trash_tasks: (ctx, { kind, tasks }) =>
    undoEach(ctx, tasks, (task) => trashMade(ctx, task), {
      toUndo: (some) => ({ kind, tasks: some }),
      toReverse: (ids) => ({ kind: 'restore_tasks', ids }),
    }),
  restore_tasks: (ctx, { kind, ids }) =>
    undoEach(ctx, ids, async (id) => (await restoreTask(ctx, id), id), {
      toUndo: (some) => ({ kind, ids: some }),
      toReverse: (some) => readVersions(ctx, some),
    }),
  revert_project: (ctx, { project: [id, version] }) => undoOne(revertProject(ctx, id, version)),
  set_fields: async (ctx, undo) => ({ done: 1, left: '', reverse: await revertFields(ctx, undo) }),
  restore_project: (ctx, { id }) => undoOne(restoreProject(ctx, id)),
  delete_relation: (ctx, { relationId }) => undoOne(deleteRelation(ctx, relationId)),
  create_relation: (ctx, { relation }) => undoOne(createRelation(ctx, relation)),
  delete_comment: (ctx, { commentId }) => undoOne(deleteComment(ctx, commentId)),
  delete_project_update: (ctx, { updateId }) => undoOne(deleteUpdate(ctx, updateId)),
};

/** Says what was undone, or made again, with what takes that back; of a single change, which one. */
function describeUndone({ done, left, reverse, rest }: Undone, { called, redo }: { called: string; redo: boolean }): Notice {
  const verb = redo ? 'made again' : 'undone';
  const head = done === 1 ? `The change was ${verb}` : `${done} changes were ${verb}`;
  if (left === '') {
    const of = done === 1 && called ? `: ${called}` : '';
    return { kind: 'good', text: `${head}${of}`, undo: reverse, called, redoes: !redo };
  }
  const start = done > 0 ? `${head}. ` : rest ? '' : `Nothing was ${verb}. `;
  return { kind: 'bad', text: `${start}${left}`, undo: rest, called, redoes: redo };
}

/** Says why nothing was undone, and which change it would have been. */
function reasonOf(error: unknown, me: User | null, called = ''): string {
  if (!(error instanceof DomainError) || error.status >= 500) throw error;
  const isStale = 'changed_since' in error.extra && typeof error.detail === 'string';
  const reason = plainMessage(isStale ? (error.detail as string) : error.message, me);
  return `Nothing was undone. ${reason}.`.replace(/\.\.$/, '.') + (called && ` It was: ${called}.`);
}

export const undoPages: Page[] = [
  page({
    method: 'post',
    path: '/app/undo',
    access: 'task.write',
    form: z.object({ undo: z.string().max(4_096), back: z.string().max(2_000).optional(), redo: z.literal('yes').optional() }),
    async handle({ ctx, me, form }) {
      const binding = ctx.actor.type === 'user' ? ctx.actor.sessionId : '';
      const found = unpackUndo(ctx.config, binding, form.undo);
      const to = backPath(form.back, HOME);
      try {
        if (!found || (found !== 'expired' && !(found.undo.kind in UNDO))) throw conflict('This session did not make the change');
        if (found === 'expired') throw conflict(`A change can be undone for ${UNDO_MINUTES} minutes`);
        const undone = await UNDO[found.undo.kind](ctx, found.undo as never);
        return { to, notice: describeUndone(undone, { called: found.said, redo: form.redo !== undefined }) };
      } catch (error) {
        const called = typeof found === 'object' ? found?.said : undefined;
        return { to, notice: { kind: 'bad', text: reasonOf(error, me, called) } };
      }
    },
  }),
];
