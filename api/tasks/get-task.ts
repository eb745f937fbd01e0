import { run, type Statement } from '../../db/statement.js';
import { authorize, type Seat } from '../core/access.js';
import { type Context, userOf } from '../core/context.js';
import { notFound } from '../core/errors.js';
import { type Etag, taskEtag } from './etags.js';
import { type TaskNode, writeTree } from './nesting.js';

/**
 * $1 task, $2 caller: the task and its live descendants. Siblings come in order by the index that finds them, so nothing is
 * sorted; `plain`: nothing is shown that the version does not count.
 */
const statement: Statement = {
  name: 'get_task',
  text: /* sql */ `
    with recursive tree as (
      select t from tasks t where t.task_id = $1 and t.deleted_at is null
      union all
      select below.c from tree cross join lateral (
        select c from tasks c where c.parent_task_id = (tree.t).task_id and c.deleted_at is null
        order by c.position nulls last, c.created_at, c.task_id
      ) below
    )
    select m.role as seat, (t).task_id, case (t).task_id when $1 then null else (t).parent_task_id end as parent_task_id,
      (t).version, (t).forge_links = '[]' and (t).recurrence_of is null as plain, task_json(t)::text as json
    from tree left join memberships m on m.team_id = (t).team_id and m.user_id = $2`,
};

interface Row extends TaskNode, Record<string, unknown> {
  seat: Seat | null;
  version: number;
  plain: boolean;
  json: string;
}

/**
 * One live task with its `subtasks` tree, as JSON text, and its tag.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED
 * Source: decision C1.
 */
export async function getTask(ctx: Context, taskId: string): Promise<{ json: string; etag: Etag }> {
  const rows = await run<Row>(ctx.db, statement, [taskId, userOf(ctx)]);
  const task = rows.find((row) => row.task_id === taskId);
  if (!task) throw notFound('Task');
  authorize('task.read', task.seat);
  const json = writeTree(rows).slice(1, -1);
  return { json, etag: taskEtag(task.version, rows.length === 1 && task.plain ? undefined : json) };
}
