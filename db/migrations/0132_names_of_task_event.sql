-- What an event about a task does not hold, because it can change: the names of the stages that it names, and the values of the custom fields of
-- the task by key, null where there is none. Only what belongs to the team. A long text is given by its beginning: each run stores the event.
create function names_of_task_event(team uuid, event jsonb) returns jsonb language sql stable as $$
  select case when jsonb_typeof(event->'task') = 'object' then jsonb_build_object(
    'stages', (
      select coalesce(jsonb_object_agg(s.stage_id, s.name), '{}') from stages s
      where s.team_id = team
        and s.stage_id::text in (event #>> '{task,stage_id}', event #>> '{changes,stage_id,from}', event #>> '{changes,stage_id,to}')
    ),
    'custom_fields', (
      select coalesce(jsonb_object_agg(f.key, coalesce(to_jsonb(left(v.value_text, 250)), custom_field_json(v)::jsonb)), '{}')
      from custom_fields f left join custom_field_values v on v.field_id = f.field_id and v.entity_id = event #>> '{task,task_id}'
      where f.team_id = team and f.entity_type = 'task' and not f.is_archived
    )
  ) end
$$;
