import { defineStatement, type Statement } from '../../../../db/statement.js';
import { type Extra, MAX_TASKS, PLAIN, WITH_FIELDS } from './list-tasks.sql.js';

/** Row limit of one query: a task, its maximum of descendants, and one more row that reveals a larger tree. */
export const MAX_ROWS = MAX_TASKS + 2;

/** Maximum bytes of the texts of one query, which are known without reading them. */
const MAX_TEXTS = 10_000_000;

/**
 * $1 = task ids, $2 = caller id of each. Returns each task and its live descendants; `place` is the position in $1. The index
 * returns siblings in order, so nothing is sorted. Rows come level by level, so the limit cuts the deepest. `plain`: the record
 * shows nothing that the version does not cover. `json` is null behind the maximum of bytes.
 */
const buildStatement = (name: string, { join, bytes, record }: Extra): Statement =>
  defineStatement({
    name,
    text: /* sql */ `
    with recursive tree as (
      select wanted.place::int, wanted.user_id, true as top, t
      from unnest((select $1::text[]), (select $2::uuid[])) with ordinality as wanted(task_id, user_id, place)
      cross join lateral (select t from tasks t where t.task_id = wanted.task_id and t.deleted_at is null limit 1) found
      union all
      select tree.place, tree.user_id, false, below.c from tree cross join lateral (
        select c from tasks c where c.parent_task_id = (tree.t).task_id and c.deleted_at is null
        order by c.position nulls last, c.created_at, c.task_id
      ) below
    )
    select place - 1 as place, (select m.role from memberships m where m.team_id = (t).team_id and m.user_id = tree.user_id) as seat,
      (t).task_id, case when top then null else (t).parent_task_id end as parent_task_id, (t).version,
      (t).forge_links = '[]' and (t).recurrence_of is null as plain, 
      case when sum(octet_length((t).title) + coalesce(octet_length((t).description), 0)${bytes}) over (rows unbounded preceding) <= ${MAX_TEXTS}
        or top then ${record('task_json(t)::text')} end as json
    from tree ${join} limit ${MAX_ROWS}`,
  });
export const getTasksStatement = buildStatement('get_tasks', PLAIN);
/** The same with the values of custom fields in each record. */
export const getTasksWithFieldsStatement = buildStatement('get_tasks_with_fields', WITH_FIELDS);
