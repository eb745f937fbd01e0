import { defineStatement } from '../../../db/statement.js';

/** Newest comments of a task whose runs are looked up. */
const MAX_COMMENTS = 1_000;

/** Newest lines of an item's activity among which rejections are looked for. */
const MAX_LINES = 1_000;

/** $1 = caller id, $2 = item id, $3 = row limit. Runs that changed the item, and those whose gate was rejected: the line of the rejection names the run. */
export const runsOfItemStatement = defineStatement({
  name: 'runs_of_item',
  text: /* sql */ `
    with touched as (
      select e.run_id from effects e where e.entity_id = $2
      union
      select e.run_id from (
        select c.comment_id::text as comment_id from comments c where c.task_id = $2 order by c.created_at desc limit ${MAX_COMMENTS}
      ) c cross join lateral (select e.run_id from effects e where e.entity_id = c.comment_id) e
      union
      select f.run_id from (
        select a.action, a.entity_type, a.audit_id from activity a where a.entity_id = $2 order by a.activity_id desc limit ${MAX_LINES}
      ) a cross join lateral (
        select (f.details::jsonb->>'run_id')::uuid as run_id from audit_entries f where f.audit_id = a.audit_id limit 1
      ) f where a.action = 'reject' and a.entity_type = 'task'
    )
    select r.run_id, r.automation_name, r.team_id, r.trigger_type, r.status, r.skip_reason, r.queued_at
    from touched t cross join lateral (select * from automation_runs r where r.run_id = t.run_id) r
    where case when r.team_id is null then r.creator_id = $1
      else (select true from memberships m where m.team_id = r.team_id and m.user_id = $1) end
    order by r.queued_at desc, r.run_id limit $3`,
});
