import { defineStatement } from '../../../../db/statement.js';
import { eventType, kindOfChange } from '../../../platform/changes/make-change.sql.js';
import { CUSTOM_FIELD_PREFIX } from '../rules.js';

/** A value to set, as the statement takes it; `at` is its place in the request. */
export interface ValueInput {
  at: number;
  field_id: string;
  entity_id: string;
  value_text?: string;
  value_number?: number;
  value_date?: string;
  value_boolean?: boolean;
  value_list?: string[];
}

const COLUMNS = 'value_text, value_number, value_date, value_boolean, value_list';
const kind = (entityType: 'task' | 'project'): string => kindOfChange({ feature: 'custom_fields', action: 'update', entityType });
/** The event of a change; one of a project has none. */
const EVENT = /* sql */ `, event_type => ${eventType('task.field_changed')}, payload => jsonb_build_object(
      'task', (select task_json(t) from tasks t where t.task_id = c.entity_id),
      'field', jsonb_build_object('field_id', c.field_id, 'key', c.key, 'name', c.name, 'type', c.field_type),
      'changes', (select custom_value_change(f, c.before, c.after) from custom_fields f where f.field_id = c.field_id))`;
const change = (entityType: 'task' | 'project'): string => /* sql */ `
  make_change(team_id => c.team_id, project_id => c.project_id, ${kind(entityType)}, entity_id => c.entity_id, title => c.title,
    summary => case when c.after is null then 'cleared ' else 'set ' end || c.name,
    details => jsonb_build_object('field_id', c.field_id, 'key', c.key, 'changes',
      jsonb_build_object('${CUSTOM_FIELD_PREFIX}' || c.key, jsonb_build_object('from', c.before, 'to', c.after)))${entityType === 'task' ? EVENT : ''})`;

/**
 * $1 = caller (jsonb), $2 = values (jsonb array of ValueInput) of existing fields and live items, all locked, each pair once; $3 = caller id.
 * A value without a column clears. Writes an audit entry, a line of activity and, for a task, an event for each value that differs. Returns the records as JSON
 * with the earlier values, in the order of the request.
 */
export const setValuesStatement = defineStatement({
  name: 'set_custom_field_values',
  text: /* sql */ `
    with input as materialized (
      select i.*, num_nonnulls(i.value_text, i.value_number, i.value_date, i.value_boolean, i.value_list) = 0 as clears,
        f.team_id, f.entity_type, f.field_type, f.key, f.name, p.title, p.project_id
      from jsonb_to_recordset($2::jsonb) as i(at int, field_id uuid, entity_id text, value_text text, value_number double precision,
        value_date date, value_boolean boolean, value_list text[])
      join custom_fields f on f.field_id = i.field_id
      cross join lateral (select * from item_place p where p.item_id = i.entity_id limit 1) p
    ), previous as materialized (
      select v.field_id, v.entity_id, custom_field_json(v)::jsonb as value
      from input i join custom_field_values v on v.field_id = i.field_id and v.entity_id = i.entity_id
    ), deleted as (
      delete from custom_field_values v using input i where i.clears and v.field_id = i.field_id and v.entity_id = i.entity_id
    ), written as (
      insert into custom_field_values as v (field_id, entity_id, team_id, entity_type, field_type, key, ${COLUMNS}, updated_by)
      select field_id, entity_id, team_id, entity_type, field_type, key, ${COLUMNS}, $3::uuid from input where not clears
      on conflict (field_id, entity_id) do update set value_text = excluded.value_text, value_number = excluded.value_number,
        value_date = excluded.value_date, value_boolean = excluded.value_boolean, value_list = excluded.value_list,
        updated_by = excluded.updated_by, updated_at = now()
      where (v.value_text, v.value_number, v.value_date, v.value_boolean, v.value_list) is distinct from
        (excluded.value_text, excluded.value_number, excluded.value_date, excluded.value_boolean, excluded.value_list)
      returning v.*
    ), changed as materialized (
      select i.*, o.value as before, custom_field_json(w)::jsonb as after
      from input i left join previous o on o.field_id = i.field_id and o.entity_id = i.entity_id
      left join written w on w.field_id = i.field_id and w.entity_id = i.entity_id
      where w.field_id is not null or (i.clears and o.field_id is not null)
    ), recorded as materialized (
      select record_changes($1::jsonb, array_agg(case c.entity_type when 'task' then ${change('task')} else ${change('project')} end order by c.at))
      from changed c having count(*) > 0
    )
    select json_build_object('value_id', v.value_id, 'field_id', i.field_id, 'key', i.key, 'entity_type', i.entity_type,
      'entity_id', i.entity_id, 'value', case when not i.clears then custom_field_json(v) end,
      'updated_by', coalesce(v.updated_by, $3::uuid),
      'updated_at', to_char(coalesce(v.updated_at, now()) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) as record, b.value as before
    from input i left join previous b on b.field_id = i.field_id and b.entity_id = i.entity_id
    left join lateral (
      select w.* from written w where w.field_id = i.field_id and w.entity_id = i.entity_id
      union all
      select o.* from custom_field_values o where not i.clears and o.field_id = i.field_id and o.entity_id = i.entity_id
        and not exists (select from written w where w.field_id = i.field_id and w.entity_id = i.entity_id)
      limit 1
    ) v on true
    where (select count(*) from recorded) >= 0 order by i.at`,
});
