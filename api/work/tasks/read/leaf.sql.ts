/**
 * SQL over tasks t: without live subtasks. Only such tasks count in figures of cycles and roll over (docs/decisions/work.md#cycle-figures). The planner may
 * answer an EXISTS of thousands of tasks from a hash of all teams' subtasks, and reads a table to its end for what it takes for frequent;
 * only the index of subtasks has this order.
 */
export const IS_LEAF = /* sql */ `(select s.task_id from tasks s where s.parent_task_id = t.task_id and s.deleted_at is null
  order by s.position nulls last limit 1) is null`;
