import { defineStatement } from '../../../../db/statement.js';

/** Open tasks of a project that are counted. */
const MAX_COUNTED = 1_000;

/** SQL: whether an open task, which the user $USER with one of the roles $ROLES may read, blocks task t. */
export const isBlockedSql = (user: string, roles: string): string => /* sql */ `exists (
  select from relations r join tasks b on b.task_id = r.from_id
  where r.to_id = t.task_id and r.kind = 'blocks' and b.deleted_at is null and b.status <> 'done'
    and b.team_id in (select m.team_id from memberships m where m.user_id = ${user} and m.role = any(${roles})))`;

/** SQL: name and state of the cycle of a task t, or null. */
export const CYCLE = `(select jsonb_build_object('name', c.name, 'status', c.status) from cycles c where c.cycle_id = t.cycle_id)`;

/** SQL: words of the custom fields of a task t by their names in lower case, or null. */
export const FIELDS = /* sql */ `(select jsonb_object_agg(lower(f.name), custom_value_words(f, custom_field_json(v)::jsonb))
        from custom_fields f join custom_field_values v on v.field_id = f.field_id and v.entity_id = t.task_id
        where f.team_id = t.team_id and f.entity_type = 'task' and not f.is_archived)`;

/** $1 = task ids, $2 = project ids, $3 = user id, $4 = roles that may list tasks. */
export const linkedFactsStatement = defineStatement({
  name: 'linked_facts',
  text: /* sql */ `
    select t.task_id as item_id, e.key || '-' || t.number as key, p.name as project_title, t.priority, left(t.due_date, 10) as due, u.display_name as assignee, t.assigned_to, t.resolution,
      (select s.name from stages s where s.stage_id = t.stage_id) as stage, ${CYCLE} as cycle,
      ${FIELDS} as fields, t.tags,
      ${isBlockedSql('$3::uuid', '$4::text[]')} as is_blocked, null::int as open_tasks
    from tasks t join projects p using (project_id) join teams e on e.team_id = t.team_id
    left join users u on u.user_id = t.assigned_to where t.task_id = any($1::text[])
    union all
    select p.project_id::text, null, null, null, p.end_date::text, null, null, null, null, null, null, '{}', false, (select count(*)::int from (
      select from tasks t where t.project_id = p.project_id and t.deleted_at is null and t.status <> 'done' limit ${MAX_COUNTED}) few)
    from projects p where p.project_id = any($2::uuid[])`,
});
