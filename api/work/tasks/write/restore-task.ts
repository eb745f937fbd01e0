import { run } from '../../../../db/statement.js';
import { authorize } from '../../../platform/access/access.js';
import { callerJson, type Context, inTransaction } from '../../../platform/context.js';
import { conflict, notInTrash } from '../../../platform/errors.js';
import type { Change } from '../../../platform/changes/record-change.js';
import { markItems } from '../../graph/mark-for-search.js';
import { enqueueCascade, recordCascade } from '../../graph/record-cascade.js';
import { findSeat } from '../../../platform/access/seats.js';
import { lockProjectOfTask } from './lock-project-of-task.js';
import { restoreTaskStatement } from './restore-task.sql.js';

interface Back extends Record<string, unknown> {
  task_id: string;
  title: string;
  json: unknown;
  cascade_id: string;
  restored_at: Date;
  uprooted: boolean;
}

/** A task that came back from the trash. */
interface RestoredTask {
  message: string;
  success: true;
  entity_type: 'task';
  entity_id: string;
  restored_at: string;
  /** Number of restored tasks, including this one. */
  restored_count: number;
}

/**
 * Restores a task with the subtasks of the same deletion.
 * @throws RESOURCE_NOT_FOUND unknown or live | PERMISSION_DENIED non-member or guest | RESOURCE_CONFLICT its project is in the
 * trash
 */
export function restoreTask(ctx: Context, taskId: string): Promise<RestoredTask> {
  return inTransaction(ctx, async (ctx) => {
    const place = await lockProjectOfTask(ctx, taskId);
    if (!place) throw notInTrash('Task');
    authorize('trash.restore', await findSeat(ctx, place.team_id));
    if (place.in_trash) throw conflict(`The project “${place.name}” is in the trash; restore it first`);
    const rows = await run<Back>(ctx.db, restoreTaskStatement, [taskId, JSON.stringify(callerJson(ctx))]);
    const task = rows.find((row) => row.task_id === taskId);
    if (!task) throw notInTrash('Task');
    const task_ids = rows.flatMap((row) => (row === task ? [] : [row.task_id]));
    await markItems(ctx, place.team_id, task_ids);
    const { cascade_id } = task;
    const change: Change = {
      team_id: place.team_id,
      project_id: place.project_id,
      feature: 'tasks',
      action: 'restore',
      entity_type: 'task',
      entity_id: taskId,
      title: task.title,
      summary: 'restored the task',
      details: { cascade_id, restored_count: rows.length, parent_left_in_trash: task.uprooted },
      event: { type: 'task.restored', payload: { task: task.json, changes: {}, cascade_id } },
    };
    await recordCascade(ctx, change, { task_ids, item_ids: [] });
    await enqueueCascade(ctx, 'task.cascade_restored', { cascade_id, team_id: place.team_id, task_ids });
    return {
      message: task.uprooted ? 'Task restored at top level: its parent is in the trash' : 'Task restored',
      success: true,
      entity_type: 'task',
      entity_id: taskId,
      restored_at: task.restored_at.toISOString(),
      restored_count: rows.length,
    };
  });
}
