import { defineStatement } from '../../../db/statement.js';

/** $1 = caller id, $2 = team id, $3 = project id, $4 = entity type, each null for all; $5 = limit, $6 = offset. */
export const listTrashStatement = defineStatement({
  name: 'list_trash',
  text: /* sql */ `
    with mine as (
      select team_id from memberships where user_id = $1 and ($2::uuid is null or team_id = $2)
    ), page as (
      select 'task' as entity_type, t.task_id as entity_id, t.title, t.team_id, t.project_id, t.deleted_at, t.deleted_by, t.cascade_id
      from mine join tasks t using (team_id)
      where t.deleted_at is not null and ($3::uuid is null or t.project_id = $3) and coalesce($4, 'task') = 'task'
      union all
      select i.item_type, i.item_id, i.title, i.team_id, i.project_id, i.deleted_at, i.deleted_by, i.cascade_id
      from mine join items i using (team_id)
      where i.deleted_at is not null and ($3::uuid is null or i.project_id = $3) and coalesce($4, i.item_type) = i.item_type
      union all
      select 'project', p.project_id::text, p.name, p.team_id, p.project_id, p.deleted_at, p.deleted_by, p.cascade_id
      from mine join projects p using (team_id)
      where p.deleted_at is not null and ($3::uuid is null or p.project_id = $3) and coalesce($4, 'project') = 'project'
      order by deleted_at desc, entity_type, entity_id limit $5 offset $6
    )
    -- An item deleted with its team's others or with its project shares their cascade.
    select page.*, (select count(*) from tasks c where c.cascade_id = page.cascade_id)
      + (select count(*) from items c where c.cascade_id = page.cascade_id)
      + (select count(*) from projects c where c.project_id = page.project_id and c.cascade_id = page.cascade_id) - 1 as cascade_count
    from page order by deleted_at desc, entity_type, entity_id`,
});

/** $1 = caller id, $2 = team id, $3 = project id, $4 = entity type, each null for all. */
export const countTrashStatement = defineStatement({
  name: 'count_trash',
  text: /* sql */ `
    with mine as (
      select team_id from memberships where user_id = $1 and ($2::uuid is null or team_id = $2)
    )
    select (select count(*) from mine join tasks t using (team_id)
        where t.deleted_at is not null and ($3::uuid is null or t.project_id = $3) and coalesce($4, 'task') = 'task')
      + (select count(*) from mine join items i using (team_id)
        where i.deleted_at is not null and ($3::uuid is null or i.project_id = $3) and coalesce($4, i.item_type) = i.item_type)
      + (select count(*) from mine join projects p using (team_id)
        where p.deleted_at is not null and ($3::uuid is null or p.project_id = $3) and coalesce($4, 'project') = 'project') as total`,
});
