import type { Context } from '../../../platform/context.js';
import { conflict } from '../../../platform/errors.js';
import { changesOfVersion, valuesBefore } from '../../graph/changes-of-version.js';
import { listTaskColumns } from '../columns.js';
import type { UpdateTask } from '../schema.js';
import { updateTask } from './update-task.js';

const UPDATED = new Set<string>(listTaskColumns('update'));

/**
 * Gives a task the values that it had before the change that led to `version`, through `updateTask`, if it still has this version. Returns the version
 * after it. What follows from a field, such as the time of completion, follows again; a cycle that the task left does not come back. `current`: the version
 * that the task has to have instead, if the caller knows what the versions after `version` changed.
 * @throws the errors of `updateTask` | RESOURCE_CONFLICT also for a version that no known change led to
 */
export async function revertTask(ctx: Context, taskId: string, version: number, current = version): Promise<number> {
  const changes = await changesOfVersion(ctx, { type: 'task', id: taskId, version });
  const before: Partial<UpdateTask> = changes ? valuesBefore(changes, (field) => UPDATED.has(field)) : {};
  const after = await updateTask(ctx, taskId, { ...before, version: current });
  if (Object.keys(before).length === 0) throw conflict('The change cannot be undone: its earlier values are not known');
  return after;
}
