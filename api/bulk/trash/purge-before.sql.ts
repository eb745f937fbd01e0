import { defineStatement } from '../../../db/statement.js';
import { BATCH } from './erase.js';
import { kindOfChange } from '../../platform/changes/make-change.sql.js';

/** $1 = days in the trash. */
export const purgeUntilStatement = defineStatement({
  name: 'purge_until',
  text: 'select (now() - make_interval(days => $1))::text as until',
});

/** $1 = latest deletion time, $2 = team id or null. Both read the indexes on deleted rows. */
export const projectsToPurgeStatement = defineStatement({
  name: 'projects_to_purge',
  text: /* sql */ `
    select project_id as place_id from projects where deleted_at <= $1::timestamptz and ($2::uuid is null or team_id = $2)
    order by deleted_at limit ${BATCH}`,
});

export const placesToPurgeStatement = defineStatement({
  name: 'places_to_purge',
  text: /* sql */ `
    select distinct project_id as place_id from tasks where deleted_at <= $1::timestamptz and ($2::uuid is null or team_id = $2) limit ${BATCH}`,
});

/** $1 = project id, $2 = latest deletion time. Oldest first; tasks of one deletion stay together as far as they fit. */
export const tasksToPurgeStatement = defineStatement({
  name: 'tasks_to_purge',
  text: /* sql */ `
    select task_id from tasks where project_id = $1 and deleted_at <= $2::timestamptz
    order by deleted_at, cascade_id, created_at, task_id limit ${BATCH}`,
});

/**
 * $1 = caller (jsonb), $2 = cause, $3 = task ids. Writes one audit entry per deletion that moved some of these tasks; it names
 * the topmost one, lists the ids of the others and counts all. The rows still exist.
 */
export const recordPurgeStatement = defineStatement({
  name: 'record_purge',
  text: /* sql */ `
    with gone as (
      select t.*, exists (select from tasks p where p.task_id = t.parent_task_id and p.task_id = any($3) and p.cascade_id = t.cascade_id) as below
      from tasks t where t.task_id = any($3)
    ), roots as (
      select distinct on (cascade_id) *, count(*) over (partition by cascade_id) as purged_count,
        array_agg(task_id) over (partition by cascade_id) as task_ids
      from gone order by cascade_id, below, created_at, task_id
    )
    select record_changes($1::jsonb, array_agg(make_change(team_id => team_id, project_id => project_id,
    severity => 'MEDIUM', ${kindOfChange({ feature: 'tasks', action: 'purge', entityType: 'task' })},
    entity_id => task_id, title => title,
      summary => case when $2::text <> 'retention' then 'purged the task' end,
      details => jsonb_build_object('cause', $2::text, 'title', title, 'cascade_id', cascade_id, 'purged_count', purged_count,
        'task_ids', array_remove(task_ids, task_id)))))
    from roots`,
});
