import { defineStatement } from '../../../db/statement.js';
import { dueAgain } from '../../platform/events/due-people.sql.js';
import { PROJECT_JSON } from '../../work/projects/project-json.js';

/**
 * $1 = project id, $2 = its cascade, $3 = caller (jsonb). What was deleted before the project has another cascade and stays in the trash. The
 * schedules of the project's automations go on because of the caller.
 */
export const restoreProjectStatement = defineStatement({
  name: 'restore_project',
  text: /* sql */ `
    with back as (
      update tasks t set deleted_at = null, deleted_by = null, cascade_id = null, version = version + 1,
        due_set_by = ${dueAgain('$3::jsonb')}
      where project_id = $1 and cascade_id = $2 and deleted_at is not null returning task_id
    ), back_items as (
      update items set deleted_at = null, deleted_by = null, cascade_id = null, version = version + 1
      where project_id = $1 and cascade_id = $2 and deleted_at is not null returning item_id
    ), enabled as (
      update automations set enabled_by = add_people(enabled_by, people_of_caller($3::jsonb))
      where project_id = $1 and is_active and deleted_at is null and trigger_type = 'schedule'
    )
    update projects p set deleted_at = null, deleted_by = null, cascade_id = null, version = version + 1 where p.project_id = $1
    returning ${PROJECT_JSON} as json, now() as restored_at,
      array(select task_id from back order by 1) as task_ids, array(select item_id from back_items order by 1) as item_ids`,
});
