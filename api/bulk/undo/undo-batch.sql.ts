import { defineStatement } from '../../../db/statement.js';
import { eventType, kindOfChange } from '../../platform/changes/make-change.sql.js';
import { PROJECT_JSON } from '../../work/projects/project-json.js';

/** $1 = job id. An undo that waits or runs, and who asked for it. Marks it as running. */
export const claimUndoStatement = defineStatement({
  name: 'claim_bulk_undo',
  text: /* sql */ `
    update bulk_jobs j set undo_status = 'running' from users u
    where j.job_id = $1 and j.is_dispatched and j.undo_status in ('queued', 'running') and u.user_id = j.undo_requested_by
    returning j.job_id, j.team_id, j.undo_id, j.correlation_id, j.undo_requested_by as requested_by, u.email, u.role, u.status = 'active' as is_active`,
});

/**
 * $1 = job id, $2 = kinds, in the order in which they are undone, $3 = kinds of which many are taken at once, $4 = most of those, $5 = most of the
 * others. The next records that the import has created: all of one kind. The rows are locked, so two attempts do not take back the same.
 */
export const nextRowsStatement = defineStatement({
  name: 'next_rows_of_undo',
  text: /* sql */ `
    with next as (
      select k.kind from unnest($2::text[]) with ordinality as k(kind, at)
      where exists (
        select from bulk_rows r where r.job_id = $1 and r.entity = k.kind and r.outcome = 'created' and r.undone_at is null
      )
      order by k.at limit 1
    )
    select r.line, r.part, r.entity, r.item_id from next n join bulk_rows r on r.job_id = $1 and r.entity = n.kind
    where r.outcome = 'created' and r.undone_at is null
    order by r.entity, r.item_id limit case when (select kind from next) = any($3::text[]) then $4::integer else $5::integer end
    for update of r`,
});

/** $1 = job id, $2 = lines, $3 = parts, $4 = records that were undone. No row: the undo has ended. */
export const finishRowsStatement = defineStatement({
  name: 'finish_rows_of_undo',
  text: /* sql */ `
    with moved as (
      update bulk_jobs j set undone = j.undone + $4::integer where j.job_id = $1 and j.undo_status = 'running' returning j.job_id
    ), marked as (
      update bulk_rows r set undone_at = now() from moved m, unnest($2::integer[], $3::integer[]) as done(line, part)
      where r.job_id = m.job_id and r.line = done.line and r.part = done.part
    )
    select job_id from moved`,
});

/** $1 = job id, $2 = status. Ends an undo and frees the team's slot. */
export const endUndoStatement = defineStatement({
  name: 'end_bulk_undo',
  text: /* sql */ `
    update bulk_jobs j set undo_status = $2, is_dispatched = false, waiting_since = null
    where j.job_id = $1 and j.undo_status in ('queued', 'running') returning j.undone`,
});

/** $1 = task ids, $2 = team id. Locks the projects of tasks that go to the trash, as the trash of a single task does. */
export const lockProjectsStatement = defineStatement({
  name: 'projects_of_undo',
  text: /* sql */ `
    select p.project_id from projects p
    where p.project_id in (select t.project_id from tasks t where t.task_id = any($1::text[]) and t.team_id = $2)
    order by p.project_id for update`,
});

/**
 * $1 = task ids, $2 = team id, $3 = user id, $4 = cascade id, $5 = job id, $6 = caller (jsonb). Moves live tasks to the trash. Live subtasks that the
 * import has not created move to the top level, each with an audit entry and an event. Returns the ids of both.
 */
export const trashTasksStatement = defineStatement({
  name: 'trash_tasks_of_undo',
  text: /* sql */ `
    with target as materialized (
      select t.task_id from tasks t where t.task_id = any($1::text[]) and t.team_id = $2 and t.deleted_at is null
      order by t.task_id for update
    ), gone as (
      update tasks t set deleted_at = now(), deleted_by = $3, cascade_id = $4, version = t.version + 1
      from target where t.task_id = target.task_id returning t.task_id
    ), uprooted as (
      update tasks t set parent_task_id = null, version = t.version + 1, updated_at = now() from target
      where t.parent_task_id = target.task_id and t.deleted_at is null and t.task_id <> all($1::text[])
        and not exists (select from bulk_rows r where r.job_id = $5 and r.entity = 'task' and r.item_id = t.task_id and r.outcome = 'created')
      returning t.task_id, t.title, t.team_id, t.project_id, t.version, task_json(t) as json,
        jsonb_build_object('parent_task_id', jsonb_build_object('from', old.parent_task_id, 'to', null)) as changes
    ), recorded as (
      select record_changes($6::jsonb, array_agg(make_change(team_id => team_id, project_id => project_id,
        ${kindOfChange({ feature: 'tasks', action: 'update', entityType: 'task' })},
        entity_id => task_id, title => title, summary => 'changed parent_task_id',
        details => jsonb_build_object('changes', changes, 'version', version),
        event_type => ${eventType('task.updated')}, payload => jsonb_build_object('task', json, 'changes', changes)))) as audit_id
      from uprooted
    )
    select task_id as item_id, true as is_gone from gone
    union all select u.task_id, false from uprooted u, recorded r where r.audit_id is not null`,
});

/** $1 = item ids, $2 = team id, $3 = user id, $4 = cascade id. Moves live notes, docs, whiteboards and files to the trash. */
export const trashItemsStatement = defineStatement({
  name: 'trash_items_of_undo',
  text: /* sql */ `
    with target as materialized (
      select i.item_id from items i where i.item_id = any($1::text[]) and i.team_id = $2 and i.deleted_at is null
      order by i.item_id for update
    )
    update items i set deleted_at = now(), deleted_by = $3, cascade_id = $4, version = i.version + 1
    from target where i.item_id = target.item_id returning i.item_id, true as is_gone`,
});

/**
 * $1 = project id, $2 = team id, $3 = user id, $4 = cascade id. Moves a live project to the trash if nothing live is in it. The caller has locked it in a
 * statement before.
 */
export const trashProjectStatement = defineStatement({
  name: 'trash_project_of_undo',
  text: /* sql */ `
    update projects p set deleted_at = now(), deleted_by = $3, cascade_id = $4, version = p.version + 1
    where p.project_id = $1 and p.team_id = $2 and p.deleted_at is null
      and not exists (select from tasks t where t.project_id = p.project_id and t.deleted_at is null)
      and not exists (select from items i where i.project_id = p.project_id and i.deleted_at is null)
    returning ${PROJECT_JSON} as json`,
});

/** $1 = project id. */
export const lockProjectStatement = defineStatement({
  name: 'project_of_undo',
  text: 'select p.project_id from projects p where p.project_id = $1 for update',
});

/** $1 = ids, $2 = job id, $3 = kinds. Those that the import has created. */
export const createdStatement = defineStatement({
  name: 'created_before_undo',
  text: /* sql */ `
    select r.item_id from bulk_rows r
    where r.job_id = $2 and r.entity = any($3::text[]) and r.item_id = any($1::text[]) and r.outcome = 'created'`,
});

/** $1 = cycle id, $2 = job id. Whether a task was in the cycle that is live, or that the import has not created. */
export const sharedCycleStatement = defineStatement({
  name: 'cycle_of_undo_shared',
  text: /* sql */ `
    select exists (
      select from cycle_tasks ct join tasks t on t.task_id = ct.task_id
      where ct.cycle_id = $1 and (t.deleted_at is null or not exists (
        select from bulk_rows r where r.job_id = $2 and r.entity = 'task' and r.item_id = ct.task_id and r.outcome = 'created'
      ))
    ) or exists (
      select from cycles c join bulk_jobs j on j.job_id = $2 where c.cycle_id = $1 and c.updated_at > j.finished_at
    ) as is_shared`,
});

/** $1 = field id. Whether a live item has a value of the field. */
export const fieldInUseStatement = defineStatement({
  name: 'field_of_undo_in_use',
  text: /* sql */ `
    select exists (
      select from custom_field_values v join item_place p on p.item_id = v.entity_id
      where v.field_id = $1 and p.deleted_at is null
    ) as is_used`,
});
