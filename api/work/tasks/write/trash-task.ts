import { defineStatement, run } from '../../../../db/statement.js';
import { authorize, type Seat } from '../../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import type { Change } from '../../../platform/changes/record-change.js';
import { markItems } from '../../graph/mark-for-search.js';
import { enqueueCascade, recordCascade } from '../../graph/record-cascade.js';
import { findSeat } from '../../../platform/access/seats.js';
import { lockProjectOfLiveTask } from './lock-projects.js';
import { newId } from '../../../platform/ids.js';
import type { TrashedTask } from '../schema.js';
import { staleVersion } from './stale-version.js';

/** $1 = task id. Locks and returns the task and its live descendants. */
const lockSubtreeStatement = defineStatement({
  name: 'lock_subtree_to_trash',
  text: /* sql */ `
    with recursive tree as (
      select task_id from tasks where task_id = $1 and deleted_at is null
      union all
      select c.task_id from tree join tasks c on c.parent_task_id = tree.task_id and c.deleted_at is null
    )
    select t.task_id, t.title, t.team_id, t.project_id, t.version from tasks t join tree using (task_id)
    order by t.task_id for update of t`,
});

/** $1 = task ids, $2 = caller id, $3 = cascade id, $4 = id of the task whose record is returned. */
const trashStatement = defineStatement({
  name: 'trash_tasks',
  text: /* sql */ `
    update tasks set deleted_at = now(), deleted_by = $2, cascade_id = $3, version = version + 1 where task_id = any($1)
    returning deleted_at, case when task_id = $4 then task_json(tasks) end as json`,
});

/** $1 = task id, $2 = caller id. Reads the role without a lock: a caller without one must not make the task's team wait. */
const seatStatement = defineStatement({
  name: 'seat_before_trash',
  text: /* sql */ `
    select m.role as seat from tasks t left join memberships m on m.team_id = t.team_id and m.user_id = $2
    where t.task_id = $1 and t.deleted_at is null`,
});

/**
 * Moves a task and its descendants to the trash as one cascade; with `version`, only if the task still has it.
 * @throws RESOURCE_NOT_FOUND no live task | PERMISSION_DENIED non-member or guest | RESOURCE_CONFLICT stale version
 */
export function trashTask(ctx: Context, taskId: string, version?: number): Promise<TrashedTask> {
  return inTransaction(ctx, async (ctx) => {
    interface Row extends Record<string, unknown> {
      task_id: string;
      title: string;
      team_id: string;
      project_id: string;
      version: number;
    }
    const [place] = await run<{ seat: Seat | null }>(ctx.db, seatStatement, [taskId, requireUser(ctx)]);
    if (!place) throw notFound('Task');
    authorize('task.write', place.seat);
    const cascade_id = newId();
    // A creation locks the project FOR KEY SHARE until its commit, so after this lock no descendant can be missed.
    await lockProjectOfLiveTask(ctx, taskId);
    const rows = await run<Row>(ctx.db, lockSubtreeStatement, [taskId]);
    const task = rows.find((row) => row.task_id === taskId);
    if (!task) throw notFound('Task');
    authorize('task.write', await findSeat(ctx, task.team_id));
    if (version !== undefined && version !== task.version) {
      throw await staleVersion(ctx, { type: 'task', id: taskId, expected: version, version: task.version });
    }
    const task_ids = rows.flatMap((row) => (row === task ? [] : [row.task_id]));
    const moved = await run<{ deleted_at: Date; json: unknown }>(ctx.db, trashStatement, [
      rows.map((row) => row.task_id),
      requireUser(ctx),
      cascade_id,
      taskId,
    ]);
    const trashed = moved.find(({ json }) => json !== null);
    if (!trashed) throw notFound('Task');
    await markItems(ctx, task.team_id, task_ids);
    const change: Change = {
      team_id: task.team_id,
      project_id: task.project_id,
      feature: 'tasks',
      action: 'delete',
      entity_type: 'task',
      entity_id: taskId,
      title: task.title,
      summary: 'moved the task to the trash',
      details: { cascade_id, cascade_count: task_ids.length },
      event: { type: 'task.deleted', payload: { task: trashed.json, cascade_id } },
    };
    await recordCascade(ctx, change, { task_ids, item_ids: [] });
    await enqueueCascade(ctx, 'task.cascade_deleted', { cascade_id, team_id: task.team_id, task_ids });
    return {
      message: 'Task moved to the trash',
      success: true,
      verified: true,
      soft_deleted: true,
      deleted_at: trashed.deleted_at.toISOString(),
      retention_days: ctx.config.TRASH_RETENTION_DAYS,
      restore_url: `/api/trash/task/${encodeURIComponent(taskId)}/restore`,
    };
  });
}
