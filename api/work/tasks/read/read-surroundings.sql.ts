import { defineStatement } from '../../../../db/statement.js';

/** Subtasks and comments of one task that are looked at: a row says how far it is, and reads no more for that. */
export const MAX_COUNTED = 100;
/** Blocks of one task that are looked at: most of them may come from tasks that are done, or that the reader may not know. */
const MAX_BLOCKS = 200;

/** $1 = task ids, $2 = caller id, $3 = roles that may read. One row a task that the caller may read. */
export const surroundingsStatement = defineStatement({
  name: 'surroundings_of_tasks',
  text: /* sql */ `
    with seats as materialized (select m.team_id from memberships m where m.user_id = $2 and m.role = any($3::text[]))
    select t.task_id, below.total, below.done, said.comments,
      case when p.task_id is not null then json_build_object('team_id', p.team_id, 'number', p.number, 'title', p.title) end as parent,
      (select json_build_object('team_id', b.team_id, 'number', b.number, 'title', b.title) from (
          select r.from_id from relations r where r.to_id = t.task_id and r.kind = 'blocks' limit ${MAX_BLOCKS}) r
        join tasks b on b.task_id = r.from_id
        where t.status <> 'done' and b.deleted_at is null and b.status <> 'done' and b.team_id in (select team_id from seats)
        order by b.number, b.task_id limit 1) as blocker
    from tasks t join seats s on s.team_id = t.team_id
    left join tasks p on p.task_id = t.parent_task_id and p.team_id = t.team_id and p.deleted_at is null
    cross join lateral (select count(*)::int as total, count(*) filter (where status = 'done')::int as done from (
      select c.status from tasks c where c.parent_task_id = t.task_id and c.deleted_at is null and c.resolution is null limit ${MAX_COUNTED}) first_ones) below
    cross join lateral (select count(*)::int as comments from (
      select from comments c where c.task_id = t.task_id and c.deleted_at is null limit ${MAX_COUNTED}) newest) said
    where t.task_id = any((select $1::text[])::text[])`,
});
