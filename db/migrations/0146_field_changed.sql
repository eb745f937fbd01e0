-- What the event of a changed custom field says of its value before and after: as data, and in the words of the team. A long text is given by its
-- beginning, because each run stores the event. Null where there is no value, and for the name of a user who is no member now.
create function custom_value_words(f custom_fields, given jsonb) returns text language sql stable as $$
  select case f.field_type
    when 'boolean' then case given #>> '{}' when 'true' then 'Yes' when 'false' then 'No' end
    when 'user' then (
      select u.display_name from memberships m join users u using (user_id)
      where m.team_id = f.team_id and m.user_id::text = given #>> '{}'
    )
    when 'select' then coalesce((
      select o ->> 'label' from jsonb_array_elements(f.options) o where o ->> 'value' = given #>> '{}' limit 1
    ), given #>> '{}')
    when 'multi_select' then (
      select string_agg(coalesce(o.label, v.one), ', ' order by v.place)
      from jsonb_array_elements_text(case jsonb_typeof(given) when 'array' then given else '[]' end) with ordinality as v(one, place)
      left join lateral (
        select o ->> 'label' as label from jsonb_array_elements(f.options) o where o ->> 'value' = v.one limit 1
      ) o on true
    )
    else left(given #>> '{}', 250)
  end
$$;

create function custom_value_change(f custom_fields, was jsonb, now jsonb) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'value', jsonb_build_object(
      'from', case jsonb_typeof(was) when 'string' then to_jsonb(left(was #>> '{}', 250)) else was end,
      'to', case jsonb_typeof(now) when 'string' then to_jsonb(left(now #>> '{}', 250)) else now end),
    'text', jsonb_build_object('from', custom_value_words(f, was), 'to', custom_value_words(f, now)))
$$;
