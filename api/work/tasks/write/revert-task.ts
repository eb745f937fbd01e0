import { Stage } from '../../../../db/models/stage.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { conflict } from '../../../platform/errors.js';
import { changesOfVersion, valuesBefore } from '../../graph/changes-of-version.js';
import { withdrawAssignment } from '../../notifications/withdraw-assignment.js';
import { listTaskColumns } from '../columns.js';
import type { UpdateTask } from '../schema.js';
import { updateTask } from './update-task.js';

const UPDATED = new Set<string>(listTaskColumns('update'));

const isStage = async ({ db }: Context, stageId: string): Promise<boolean> =>
  (await Stage.query(db).findById(stageId)) !== undefined;

/**
 * Gives a task the values that it had before the change that led to `version`, through `updateTask`, if it still has this version. Returns the version
 * after it. A user who was given it by mistake finds
 * no notice of it. What follows from a field, such as the time of completion, follows again; a cycle that the task left does not come back. `current`:
 * the version that the task has to have instead, if the caller knows what the versions after `version` changed.
 * @throws the errors of `updateTask` | RESOURCE_CONFLICT also for a version that no known change led to
 */
export async function revertTask(ctx: Context, taskId: string, version: number, current = version): Promise<number> {
  const changes = await changesOfVersion(ctx, { type: 'task', id: taskId, version });
  const before: Partial<UpdateTask> = changes ? valuesBefore(changes, (field) => UPDATED.has(field)) : {};
  // A stage that is gone takes no task back; the status that came with it returns.
  if (before.stage_id && before.status && !(await isStage(ctx, before.stage_id))) delete before.stage_id;
  const revert = (ctx: Context): Promise<number> => updateTask(ctx, taskId, { ...before, version: current });
  const after = await (before.assigned_to === undefined
    ? revert(ctx)
    : inTransaction(ctx, async (ctx) => {
        const after = await revert(ctx);
        const given = changes?.['assigned_to'];
        await withdrawAssignment(ctx, taskId, given && 'to' in given ? (given.to as string | null) : null);
        return after;
      }));
  if (Object.keys(before).length === 0) throw conflict('The change cannot be undone: its earlier values are not known');
  return after;
}
