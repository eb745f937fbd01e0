import type { Knex } from 'knex';

/**
 * Notes, files, whiteboards and docs share one table; with tasks and projects they form the work graph. `item_place` locates any of the
 * six item types by its id.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(tables);
  await knex.raw(records);
  await knex.raw(eventTypes);
}

const tables = /* sql */ `
create table items (
  item_id text primary key references item_keys,
  item_type text not null check (item_type in ('note', 'file', 'whiteboard', 'doc')),
  team_id uuid not null references teams,
  project_id uuid,
  title text not null,
  description text,
  -- The text of a note or a doc. Lists never read it.
  content text check (octet_length(content) <= 102400),
  -- Kind of a note; null for other types.
  kind text check (kind in ('note', 'idea')),
  status text not null default 'active' check (status in ('active', 'archived')),
  -- Kept as sent: jsonb would write out a number such as 1e300.
  fields json not null default '{}' check (octet_length(fields::text) <= 32768),
  created_by uuid not null references users,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  version integer not null default 1,
  deleted_at timestamptz,
  deleted_by uuid references users,
  cascade_id uuid,
  check ((item_type = 'note') = (kind is not null)),
  foreign key (project_id, team_id) references projects (project_id, team_id)
) with (fillfactor = 90);
create index items_of_team on items (team_id, created_at, item_id) where deleted_at is null;
create index items_of_project on items (project_id, created_at, item_id) where deleted_at is null and project_id is not null;
create index trashed_items on items (team_id, deleted_at) where deleted_at is not null;
create index trashed_items_of_project on items (project_id, deleted_at) where deleted_at is not null and project_id is not null;
create index items_of_cascade on items (cascade_id) where cascade_id is not null;

-- Tasks in the order of the work-item list, which reads keys first and needs index-only scans.
create index tasks_by_time_of_team on tasks (team_id, created_at, task_id) where deleted_at is null;
create index tasks_by_time_of_project on tasks (project_id, created_at, task_id) where deleted_at is null;
alter table tasks set (autovacuum_vacuum_scale_factor = 0.02);
alter table items set (autovacuum_vacuum_scale_factor = 0.02);

-- Fields of tasks and projects that only the work graph knows. A table of its own: an update of a task copies its row.
create table item_fields (
  item_id text primary key references item_keys on delete cascade,
  fields json not null check (octet_length(fields::text) <= 32768)
);

-- Work items are replaced by version, so projects have one too.
alter table projects add column version integer not null default 1;

-- Updates of an item, newest first: what changed since a stale version.
create index audit_of_item_updates on audit_entries (entity_id, timestamp)
  where entity_type in ('project', 'note', 'file', 'whiteboard', 'doc') and action = 'update';

-- Projects are found by the text of their id, as every item is.
create unique index projects_by_item_id on projects ((project_id::text));

-- Any item, live or in the trash. Read it by id only, one id at a time (lateral), so that each branch is an index look-up.
create view item_place as
  select t.task_id as item_id, 'task' as item_type, t.title, t.status, t.team_id, t.project_id, t.deleted_at from tasks t
  union all
  select p.project_id::text, 'project', p.name, p.status, p.team_id, p.project_id, p.deleted_at from projects p
  union all
  select i.item_id, i.item_type, i.title, i.status, i.team_id, i.project_id, i.deleted_at from items i;
`;

const records = /* sql */ `
-- A work item as the API shows it, for all six types. A row type, because it serializes faster than json_build_object. Takes columns, not
-- the row: a row as an argument would read the content of a note.
create type work_item_record as (item_id text, id text, type text, title text, description text, status text, team_id uuid,
  project_id uuid, fields json, url text, created_by uuid, created_at text, updated_at text, version integer);
create function work_item_json(item_id text, item_type text, title text, description text, status text, team_id uuid, project_id uuid,
  fields json, created_by uuid, created_at timestamptz, updated_at timestamptz, version integer)
returns json language sql stable as $$
  select row_to_json(row(item_id, item_id, item_type, title, description, status, team_id, project_id, coalesce(fields, '{}'),
    case item_type when 'task' then '/api/tasks/' when 'project' then '/api/projects/' when 'note' then '/api/notes/'
      when 'file' then '/api/files/' else '/api/work-items/' end || item_id,
    created_by, to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    to_char(updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), version)::work_item_record)
$$;
`;

const eventTypes = /* sql */ `
insert into event_types (event_type, triggers) values ('note.created', '{note.created}'), ('relation.created', '{relation.created}');
`;

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
