import type { User } from '../../../identity/auth/schema.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { nameOriginal, type Naming } from '../../../work/relations/name-original.js';
import { getTask } from '../../../work/tasks/read/get-task.js';
import { fromChoice } from '../../../work/tasks/rules.js';
import type { Task } from '../../../work/tasks/schema.js';
import type { Changed, ChangedTask, Undo } from '../../server/undo.js';
import { createFormatter } from '../../wording/formatter.js';
import { changeTask } from './change-ticked.js';
import { type EachResult, eachTask } from './each-task.js';

/** What became of a task that was closed as a duplicate: its new version, and what names its original. */
interface Closed {
  id: string;
  task: ChangedTask | undefined;
  naming: Naming | undefined;
}

/** Changes a task and names its original, both or neither; null names none any more. */
export const closeAsDuplicate = (
  ctx: Context,
  id: string,
  originalId: string | null,
  change: (ctx: Context) => Promise<ChangedTask | undefined>,
): Promise<Closed> =>
  inTransaction(ctx, async (ctx) => ({ id, task: await change(ctx), naming: await nameOriginal(ctx, id, originalId) }));

/** Closes each ticked task as a duplicate of one. One at a time: they wait for each other at the task that all of them name. */
export const closeTicked = (ctx: Context, rows: readonly Changed[], originalId: string): Promise<EachResult<Changed, Closed>> =>
  eachTask(
    ctx,
    rows,
    ([id, version]) =>
      closeAsDuplicate(ctx, id, originalId, (ctx) =>
        changeTask(ctx, [id, version], undefined, { patch: fromChoice('duplicate'), cycle: undefined }),
      ),
    1,
  );

/** Returns what takes back the closing of some tasks with the naming of their original; undefined if nothing got another value. */
export function undoClosed(closed: readonly Closed[], originalId: string | null): Undo | undefined {
  const changed = closed.filter(({ task, naming }) => task ?? naming);
  if (changed.length === 0) return undefined;
  return {
    kind: 'revert_duplicates',
    original: originalId ?? '',
    tasks: changed.map(({ id, task }): ChangedTask => task ?? [id, 0]),
    // Tasks that were related before stay related.
    before: changed.flatMap(({ id, naming }) => (naming && !naming.wasRelated ? [[id, naming.before] as [string, string]] : [])),
  };
}

/** Says what a task was closed as: by the number of its original, or by its title. */
export async function describeClosed(ctx: Context, me: User, originalId: string | null): Promise<string> {
  if (originalId === null) return 'Closed as a duplicate';
  const task = JSON.parse((await getTask(ctx, originalId)).json) as Task;
  return `Closed as a duplicate of ${createFormatter(me).taskName(task) || `“${task.title}”`}`;
}
