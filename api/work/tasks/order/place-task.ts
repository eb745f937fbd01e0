import { run } from '../../../../db/statement.js';
import { rolesFor } from '../../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { conflict } from '../../../platform/errors.js';
import type { UpdateTask } from '../schema.js';
import { updateTask } from '../write/update-task.js';
import { followingStatement, lockOrderStatement, placesStatement, precedingStatement } from './place-task.sql.js';
import { decidePlaces, type Placed } from './rules.js';

/** Where a task goes: behind one task, before another, or both. */
export interface Neighbours {
  after?: string | undefined;
  before?: string | undefined;
}

type Known = Placed & { project_id: string };
type Row<T> = T & Record<string, unknown>;

/** Returns what the task follows in its project, and the tasks behind that. */
async function findGap(
  ctx: Context,
  taskId: string,
  { after, before }: { after: Known | undefined; before: Known | undefined },
): Promise<{ low: number | undefined; next: Placed[] }> {
  const of = (known: Known) => [known.project_id, known.task_id, taskId];
  if (after) {
    const next = await run<Row<Placed>>(ctx.db, followingStatement, of(after));
    // The neighbour may be of another project, and nearer.
    const isNearer = before && before.place > after.place && before.place < (next[0]?.place ?? Infinity);
    return { low: after.place, next: isNearer ? [before, ...next] : next };
  }
  if (!before) throw conflict('The list has changed since you opened it. Look at it, then move the task again');
  const [previous] = await run<Row<Placed>>(ctx.db, precedingStatement, of(before));
  if (!previous) return { low: undefined, next: [before] };
  return {
    low: previous.place,
    next: await run<Row<Placed>>(ctx.db, followingStatement, [before.project_id, previous.task_id, taskId]),
  };
}

/**
 * Gives a task a place between two others in the manual order, with other fields, as one change. Only its row is written, unless no number is left
 * between the two. Returns the version after the change.
 * @throws the errors of `updateTask` | RESOURCE_CONFLICT also where both neighbours are gone, or there is no room
 */
export async function placeTask(
  ctx: Context,
  taskId: string,
  { after, before }: Neighbours,
  fields: UpdateTask,
): Promise<number> {
  return inTransaction(ctx, async (ctx) => {
    const ids = [after, before].filter((id) => id !== undefined && id !== taskId);
    const me = requireUser(ctx);
    const values = [ids, me, rolesFor('task.read')];
    const [anchor] = await run<Row<Known>>(ctx.db, placesStatement, values);
    if (anchor) await run(ctx.db, lockOrderStatement, [anchor.project_id, me, rolesFor('task.write')]);
    const known = await run<Row<Known>>(ctx.db, placesStatement, values);
    const find = (id: string | undefined) => known.find(({ task_id }) => task_id === id);
    const { low, next } = await findGap(ctx, taskId, { after: find(after), before: find(before) });
    const [own, ...shifted] = decidePlaces(taskId, low, next) ?? [];
    if (!own) throw conflict('There is no room between the two tasks');
    const version = await updateTask(ctx, taskId, { ...fields, position: own.place });
    for (const { task_id, place } of shifted) await updateTask(ctx, task_id, { position: place });
    return version;
  });
}
