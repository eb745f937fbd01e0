import { defineStatement } from '../../../../db/statement.js';

/**
 * $1 = ids, $2 = teams that the caller may write to. Locks live tasks, in the order of their ids, as an update of the task would: so values
 * of one task are set one after the other, and never while it goes to the trash.
 */
export const lockTasksStatement = defineStatement({
  name: 'lock_valued_tasks',
  text: /* sql */ `
    select t.task_id from tasks t where t.task_id = any($1::text[]) and t.team_id = any($2::uuid[]) and t.deleted_at is null
    order by t.task_id for no key update`,
});

/** The same for projects. */
export const lockProjectsStatement = defineStatement({
  name: 'lock_valued_projects',
  text: /* sql */ `
    select p.project_id from projects p
    where p.project_id::text = any($1::text[]) and p.team_id = any($2::uuid[]) and p.deleted_at is null
    order by p.project_id for no key update`,
});

/**
 * $1 = field ids, $2 = caller id. The fields with the caller's role in their team, both locked until the commit: an archive, another list of
 * choices or the end of the membership waits.
 */
export const lockFieldsStatement = defineStatement({
  name: 'lock_custom_fields',
  text: /* sql */ `
    select f.field_id, m.role as seat from custom_fields f join memberships m on m.team_id = f.team_id and m.user_id = $2
    where f.field_id = any($1::uuid[]) order by f.field_id for share of f, m`,
});

/** $1 = field ids, $2 = caller id. The same without locks; the role of a non-member is null. */
export const fieldsStatement = defineStatement({
  name: 'custom_fields_to_set',
  text: /* sql */ `
    select f.field_id, f.team_id, f.name, f.key, f.field_type, f.entity_type, f.options, f.required, f.is_archived, m.role as seat
    from custom_fields f left join memberships m on m.team_id = f.team_id and m.user_id = $2 where f.field_id = any($1::uuid[])`,
});

/** $1 = team ids, $2 = user ids, pairs. Those of them who are members, locked until the commit. */
export const lockMembersStatement = defineStatement({
  name: 'lock_members_as_values',
  text: /* sql */ `
    select m.team_id, m.user_id from memberships m
    where (m.team_id, m.user_id) in (select * from unnest($1::uuid[], $2::uuid[])) order by m.team_id, m.user_id for key share`,
});
