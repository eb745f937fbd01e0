import { run, type Statement } from '../../db/statement.js';
import { authorize, type Seat } from '../core/access.js';
import { type Context, userOf } from '../core/context.js';
import { notFound } from '../core/errors.js';
import { nestTasks, type TaskNode } from './rules.js';

/** $1 task, $2 caller: the task and its live descendants, the task first. */
const statement: Statement = {
  name: 'get_task',
  text: /* sql */ `
    with recursive tree as (
      select t, 0 as level from tasks t where t.task_id = $1 and t.deleted_at is null
      union all
      select c, tree.level + 1 from tree join tasks c on c.parent_task_id = (tree.t).task_id and c.deleted_at is null
    )
    select m.role as seat, (t).version, (t).task_id, case level when 0 then null else (t).parent_task_id end as parent_task_id,
      task_json(t)::text as json
    from tree left join memberships m on m.team_id = (t).team_id and m.user_id = $2
    order by level, (t).position nulls last, (t).created_at, (t).task_id`,
};

/**
 * One live task with its `subtasks` tree, as JSON text, and its version.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED
 * Source: decision C1.
 */
export async function getTask(ctx: Context, taskId: string): Promise<{ json: string; version: number }> {
  const rows = await run<TaskNode & { seat: Seat | null; version: number } & Record<string, unknown>>(ctx.db, statement, [
    taskId,
    userOf(ctx),
  ]);
  const [task] = rows;
  if (!task) throw notFound('Task');
  authorize('task.read', task.seat);
  return { json: nestTasks(rows).slice(1, -1), version: task.version };
}
