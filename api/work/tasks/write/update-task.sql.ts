import { defineStatement, type Statement } from '../../../../db/statement.js';
import { dueAfterUpdate } from '../../../platform/events/due-people.sql.js';
import { hasSubscriber } from '../../../platform/events/has-subscriber.sql.js';
import { eventType, kindOfChange } from '../../../platform/changes/make-change.sql.js';
import { listTaskColumns } from '../columns.js';
import { misplacedStageSql } from './misplaced-resolution.js';

const SET = listTaskColumns('update')
  .map((name) => `${name} = (v.wanted).${name}`)
  .join(', ');

/** The trace of each update, with its differences as {field: {from, to}}: the fields sent, and those that follow from the status, the stage or the project. */
const RECORDED = /* sql */ `
  select record_changes_of(array_agg(u.who), array_agg(make_change(team_id => u.team_id, project_id => u.project_id,
    ${kindOfChange({ feature: 'tasks', action: 'update', entityType: 'task' })},
    entity_id => u.task_id, title => u.title,
    summary => 'changed ' || (select string_agg(key, ', ') from jsonb_object_keys(c.changes) as key),
    details => jsonb_build_object('changes', c.changes, 'version', u.version), event_type => ${eventType('task.updated')},
    payload => jsonb_build_object('task', u.now, 'changes', c.changes))))
  from updated u, lateral (
    select coalesce(jsonb_object_agg(key, jsonb_build_object('from', u.was->key, 'to', u.now->key)), '{}') || coalesce(u.beside, '{}') as changes
    from jsonb_object_keys(u.fields || '{"completed_at": null, "cycle_id": null, "resolution": null, "stage_id": null, "status": null}') as key where u.was->key is distinct from u.now->key
  ) c`;

/**
 * Updates one or several tasks in one statement. $1 = changes (jsonb array): `task_id`, `fields` (those present), `version`
 * (expected, or null), `beside` (differences of what is written beside the row, or null), `who` (caller); $2 = roles that may write, coalesced so that
 * PostgreSQL keeps its plan. Returns one row per live task; its flags distinguish the outcomes. A change without effect
 * writes nothing. `project_id` and `parent_task_id` occur only after lock-move-target.ts has checked them under the project's
 * lock. A stage brings its status; a trigger clears one that does not fit a status or a resolution which is given alone. `waiting`: waits for locked rows.
 * Otherwise a locked task returns no row, and a locked membership counts as none. A task of a series then returns no row either, because a trigger at its
 * commit waits for the series' lock.
 */
const statement = (name: string, waiting: boolean): Statement => {
  const skip = waiting ? '' : 'skip locked';
  const noSeries = waiting ? '' : 'and t.series_id is null';
  return defineStatement({
    name,
    text: /* sql */ `
with before as materialized (
  -- The row, and the row with the new fields applied; keys come from the closed schema only.
  select c.*, t.task, stage.name as stage_name, stage.status as stage_status,
    jsonb_populate_record(t.task, case when stage.status is null then c.fields else jsonb_build_object('status', stage.status) || c.fields end) as wanted
  from jsonb_to_recordset($1::jsonb) as c(task_id text, fields jsonb, version integer, beside jsonb, who jsonb)
  cross join lateral (
    select t as task from tasks t where t.task_id = c.task_id and t.deleted_at is null ${noSeries} for update ${skip}
  ) t
  left join lateral (
    select s.name, s.status from stages s where s.stage_id = (c.fields->>'stage_id')::uuid and s.team_id = (t.task).team_id for key share ${skip}
  ) stage on true
), verdict as materialized (
  select b.*, seat.role as seat, b.version is not null and b.version <> (b.task).version as stale,
    (b.wanted).assigned_to is not distinct from (b.task).assigned_to or (b.wanted).assigned_to is null
      or assignee.found is not null as assignee_ok,
    b.fields->>'resolution' is null or (b.wanted).status = 'done' as resolution_ok,
    b.fields->>'stage_id' is null or coalesce(b.stage_status = (b.wanted).status and b.fields->>'resolution' is null, false) as stage_ok
  from before b
  left join lateral (
    select m.role from memberships m
    where m.team_id = (b.task).team_id and m.user_id = (b.who->>'user_id')::uuid for key share ${skip}
  ) seat on true
  left join lateral (
    select true as found from memberships m
    where m.team_id = (b.task).team_id and m.user_id = (b.wanted).assigned_to for key share ${skip}
  ) assignee on true
), updated as (
  update tasks t set ${SET},
    completed_at = case when (v.wanted).status = 'done' then coalesce(t.completed_at, now()) end,
    due_set_by = ${dueAfterUpdate('(v.wanted)', 'v.who')},
    version = t.version + 1, updated_at = now()
  from verdict v
  where t.task_id = (v.task).task_id and coalesce(v.seat = any($2::text[]), false) and not v.stale and v.assignee_ok and v.resolution_ok and v.stage_ok
    and (v.wanted is distinct from v.task or v.beside is not null)
  returning t.task_id, t.title, t.team_id, t.project_id, t.version, v.who, v.fields, v.beside, task_json(v.task)::jsonb as was,
    task_json(t)::jsonb as now
), recorded as (${RECORDED})
select v.task_id, v.seat, v.stale, v.assignee_ok, v.resolution_ok, ${misplacedStageSql("v.fields->>'status'", "v.fields->>'resolution'")},
  coalesce(u.version, (v.task).version) as version,
  u.version is not null and ((v.wanted).series_id is not null or (v.wanted).recurrence is not null
    or ${hasSubscriber('task.updated', '(v.task).team_id', "(v.who->>'user_id')::uuid")}) as notify
from recorded cross join verdict v left join updated u on u.task_id = v.task_id`,
  });
};

/** Waits for locks on the task and the memberships, then decides on current rows. */
export const updateTaskStatement = statement('update_task', true);

/** Skips locked rows. */
export const updateTasksStatement = statement('update_tasks', false);
