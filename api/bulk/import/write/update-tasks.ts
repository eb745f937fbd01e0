import { defineStatement, run } from '../../../../db/statement.js';
import { pickFreeFields, freeFieldsWriter } from '../../../work/items/free-fields.js';
import { UpdateTask } from '../../../work/tasks/schema.js';
import { updateTask } from '../../../work/tasks/write/update-task.js';
import type { Batch, Row } from './batch.js';
import { given } from './given.js';
import type { KnownRecord } from './known-ids.js';
import { settleConflict } from './one-by-one.js';
import { getPlace, type TaskPlaces } from './task-places.js';

/** $1 = task id. */
const versionStatement = defineStatement({ name: 'version_of_task', text: 'select version from tasks where task_id = $1' });

async function findVersion({ ctx }: Batch, id: string): Promise<number | undefined> {
  const [row] = await run<{ version: number }>(ctx.db, versionStatement, [id]);
  return row?.version;
}

/** Applies `on_conflict` to a task that the team has. Returns whether its cycle may change too. */
export async function settleTask(
  batch: Batch,
  places: TaskPlaces,
  row: Row<'task'>,
  found: KnownRecord,
  ref: string | null | undefined,
): Promise<boolean> {
  if (found.type !== 'task') {
    batch.result.failed(row, 'The id belongs to a record of another kind');
    return false;
  }
  const isUndone = found.undo_id != null;
  const isUpdate = isUndone || (batch.on_conflict === 'update' && !row.shared);
  // Without a project the task stays in its own, or comes back into that of the import.
  const own = isUndone ? batch.project_id : (found.project_id ?? null);
  if (own !== null && !isUndone) places.projects.add(own);
  const place = isUpdate ? getPlace({ ...batch, project_id: own }, places, row) : undefined;
  if (typeof place === 'string') {
    batch.result.failed(row, place);
    return false;
  }
  if (isUndone) found.project_id = place?.project_id ?? null;
  let isUpdated = false;
  const update = async (ctx: Batch['ctx'], { record }: Row<'task'>, id: string): Promise<boolean> => {
    const before = await findVersion({ ...batch, ctx }, id);
    // A recurrence is set at creation only: a second import must not start a series again.
    const { version: _version, recurrence: _recurrence, ...fields } = given(UpdateTask, record);
    const { parent_task_id, project_id, assigned_to } = place as Exclude<typeof place, string | undefined>;
    const next = {
      ...fields,
      ...(isUndone && { stage_id: record.stage_id ?? null, resolution: record.resolution ?? null }),
      ...(record.project_id != null && { project_id }),
      ...(record.parent_task_id !== undefined && { parent_task_id }),
      ...(record.assigned_to !== undefined && { assigned_to }),
    };
    const beside = record.fields == null ? undefined : freeFieldsWriter(id, pickFreeFields('task', { fields: record.fields }));
    await updateTask(ctx, id, next, beside);
    isUpdated = true;
    return (await findVersion({ ...batch, ctx }, id)) !== before;
  };
  await settleConflict(batch, { name: 'task', update }, row, found, ref);
  return isUpdated;
}
