import { defineStatement } from '../../../db/statement.js';

/** $1 = ids of tasks or projects. Locks them in id order, in the trash or not, and returns their versions. */
export const lockTasksStatement = defineStatement({
  name: 'lock_staged_tasks',
  text: /* sql */ `
    select t.task_id as id, t.version, t.deleted_at is not null as in_trash
    from (select id from unnest($1::text[]) as id order by id) w cross join lateral (
      select * from tasks t where t.task_id = w.id for no key update
    ) t`,
});
export const lockProjectsStatement = defineStatement({
  name: 'lock_staged_projects',
  text: /* sql */ `
    select p.project_id::text as id, p.version, p.deleted_at is not null as in_trash
    from (select id from unnest($1::uuid[]) as id order by id) w cross join lateral (
      select * from projects p where p.project_id = w.id for no key update
    ) p`,
});

/** $1 = task ids. */
export const projectsOfTasksStatement = defineStatement({
  name: 'projects_of_staged_tasks',
  text: 'select distinct project_id from tasks where task_id = any($1)',
});

/** $1 = task ids. */
export const cyclesOfTasksStatement = defineStatement({
  name: 'cycles_of_staged_tasks',
  text: 'select distinct cycle_id from tasks where task_id = any($1) and cycle_id is not null',
});
