import { defineStatement } from '../../../db/statement.js';

/**
 * $1 = job id, $2 = team id, $3 = most projects, and most cycles, $4 = most tasks that are looked at. Live projects in which the import has created something,
 * and cycles that it has created.
 */
export const madeStatement = defineStatement({
  name: 'made_by_import',
  text: /* sql */ `
    with made as (
      select r.entity, r.item_id from bulk_rows r where r.job_id = $1 and r.entity = 'task' and r.outcome = 'created' limit $4::integer
    ), places as (
      select t.project_id from made m join tasks t on t.task_id = m.item_id and t.team_id = $2 and t.deleted_at is null
      union
      select r.item_id::uuid from bulk_rows r where r.job_id = $1 and r.entity = 'project' and r.outcome = 'created'
    )
    (select 'project' as kind, p.project_id as id, p.name, null as status from projects p
      where p.project_id in (select project_id from places) and p.team_id = $2 and p.deleted_at is null
      order by p.name, p.project_id limit $3::integer)
    union all
    (select 'cycle', c.cycle_id, c.name, c.status from cycles c
      where c.team_id = $2 and c.cycle_id in (
        select r.item_id::uuid from bulk_rows r where r.job_id = $1 and r.entity = 'cycle' and r.outcome = 'created'
      )
      order by c.start_date desc nulls last, c.cycle_id limit $3::integer)`,
});
