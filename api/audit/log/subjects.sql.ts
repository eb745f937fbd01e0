import { defineStatement } from '../../../db/statement.js';

const ITEM_TYPES = "('task', 'project', 'note', 'file', 'whiteboard', 'doc')";

/**
 * Names what entries are about. $1 = types, $2 = ids and $3 = teams of the entities, in the same order. A record is named only where it belongs to
 * the team of its entry, whose log the caller reads. Each step is a look-up by key; an id that is no UUID names nothing. `is_open`: it has a page
 * that its readers can open.
 */
export const subjectsStatement = defineStatement({
  name: 'audit_subjects',
  text: /* sql */ `
    select w.entity_type, w.entity_id, f.name, f.page_id, f.is_open from (
      select u.*, case when pg_input_is_valid(u.entity_id, 'uuid') then u.entity_id::uuid end as uuid
      from unnest($1::text[], $2::text[], $3::uuid[]) as u(entity_type, entity_id, team_id)
    ) w cross join lateral (
      select i.title as name, i.item_id as page_id, i.deleted_at is null as is_open from item_place i
        where w.entity_type in ${ITEM_TYPES} and i.item_id = w.entity_id and i.item_type = w.entity_type and i.team_id = w.team_id
      union all
      select t.title, t.task_id, t.deleted_at is null and c.deleted_at is null from comments c join tasks t using (task_id)
        where w.entity_type = 'comment' and c.comment_id = w.uuid and t.team_id = w.team_id
      union all
      select r.automation_name, r.run_id::text, true from automation_runs r
        where w.entity_type = 'automation_run' and r.run_id = w.uuid and r.team_id = w.team_id
      union all
      select a.name, a.automation_id::text, false from automations a
        where w.entity_type = 'automation' and a.automation_id = w.uuid and a.team_id = w.team_id
      union all
      select r.title, r.request_id::text, true from change_requests r
        where w.entity_type = 'change_request' and r.request_id = w.uuid and r.team_id = w.team_id
      union all
      select p.summary, p.action_id::text, true from agent_plans p
        where w.entity_type = 'agent_plan' and p.action_id = w.uuid and p.team_id = w.team_id
      union all
      select y.name, y.cycle_id::text, true from cycles y where w.entity_type = 'cycle' and y.cycle_id = w.uuid and y.team_id = w.team_id
      limit 1
    ) f`,
});
