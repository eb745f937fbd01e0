-- Notes, files, whiteboards and docs share one table; with tasks and projects they form the work graph.

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
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02);
create index items_of_team on items (team_id, created_at, item_id) where deleted_at is null;
create index items_of_project on items (project_id, created_at, item_id) where deleted_at is null and project_id is not null;
create index trashed_items on items (team_id, deleted_at) where deleted_at is not null;
create index trashed_items_of_project on items (project_id, deleted_at) where deleted_at is not null and project_id is not null;
create index items_of_cascade on items (cascade_id) where cascade_id is not null;

-- Fields of tasks and projects that only the work graph knows. A table of its own: an update of a task copies its row.
create table item_fields (
  item_id text primary key references item_keys on delete cascade,
  fields json not null check (octet_length(fields::text) <= 32768)
);

-- A file item without a row here has no bytes. No cascade: a purge that forgets the row, and with it the team's sum, fails.
create table files (
  item_id text primary key references items,
  size bigint not null check (size >= 0),
  -- As the client declared it; nothing trusts it.
  content_type text not null,
  -- From the first bytes; null if unknown.
  sniffed_type text,
  -- Lower-case hexadecimal.
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  -- Random and never reused, so an object without a row can be removed.
  object_key text not null unique
);

-- Sum of the sizes of a team's files, those in the trash included.
create table team_storage (
  team_id uuid primary key references teams,
  bytes bigint not null default 0 check (bytes >= 0),
  -- Null for the installation's default.
  quota bigint check (quota >= 0)
);

-- Any item, live or in the trash. Read it by id only, one id at a time (lateral), so that each branch is an index look-up.
create view item_place as
  select t.task_id as item_id, 'task' as item_type, t.title, t.status, t.team_id, t.project_id, t.deleted_at from tasks t
  union all
  select p.project_id::text, 'project', p.name, p.status, p.team_id, p.project_id, p.deleted_at from projects p
  union all
  select i.item_id, i.item_type, i.title, i.status, i.team_id, i.project_id, i.deleted_at from items i;

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

-- "relation_type", "source_id" and "target_id" are as given; "kind", "from_id" and "to_id" are canonical, so that the same edge in other
-- words is the same row. Edges of an item in the trash stay and are hidden; purging the item deletes them.
create table relations (
  relation_id uuid primary key default uuidv7(),
  relation_type text not null check (relation_type in ('parent_child', 'blocking', 'blocked_by', 'blocks', 'related_to', 'attached_to',
    'belongs_to', 'caused_by', 'recurrence_of')),
  source_id text not null references item_keys on delete cascade,
  target_id text not null references item_keys on delete cascade,
  kind text not null check (kind in ('contains', 'blocks', 'related', 'attached', 'caused', 'recurs')),
  from_id text not null,
  to_id text not null,
  -- Items never change their team, so a walk along edges needs no look-up of items.
  from_team_id uuid not null references teams,
  to_team_id uuid not null references teams,
  -- A column, so that the planner knows how rare it is.
  crosses_teams boolean not null generated always as (from_team_id <> to_team_id) stored,
  -- The team of the source when the edge was created: its members count as the item's own, others as strangers.
  team_id uuid not null references teams,
  created_by uuid not null references users,
  created_at timestamptz not null default now(),
  check (from_id <> to_id),
  check ((from_id, to_id) in ((source_id, target_id), (target_id, source_id))),
  unique (kind, from_id, to_id)
);
create index relations_from on relations (from_id, kind);
create index relations_to on relations (to_id, kind);
create index relations_of_source on relations (source_id);
create index relations_of_target on relations (target_id);
create index relations_of_team on relations (team_id);
-- Edges that may lead a walk out of a team.
create index relations_out_of_team on relations (from_team_id, kind) where crosses_teams;
create index relations_into_team on relations (to_team_id, kind) where crosses_teams;

-- Every edge as each of its two ends sees it, stored or following from a task's fields. Read it by item_id. Ends may be in the trash, except
-- a subtask or a later occurrence.
create view item_edges as
  select r.from_id as item_id, 'from' as at_end, r.to_id as far_id, r.kind, r.relation_id::text as relation_id, r.relation_type,
    r.source_id, r.target_id, r.created_by, r.created_at from relations r
  union all
  select r.to_id, 'to', r.from_id, r.kind, r.relation_id::text, r.relation_type, r.source_id, r.target_id, r.created_by, r.created_at
  from relations r
  union all
  select t.parent_task_id, 'from', t.task_id, 'contains', 'parent:' || t.task_id, 'parent_child', t.parent_task_id, t.task_id, t.created_by,
    t.created_at from tasks t where t.parent_task_id is not null and t.deleted_at is null
  union all
  select t.task_id, 'to', t.parent_task_id, 'contains', 'parent:' || t.task_id, 'parent_child', t.parent_task_id, t.task_id, t.created_by,
    t.created_at from tasks t where t.parent_task_id is not null
  union all
  select t.recurrence_of, 'to', t.task_id, 'recurs', 'recurrence:' || t.task_id, 'recurrence_of', t.task_id, t.recurrence_of, t.created_by,
    t.created_at from tasks t where t.recurrence_of is not null and t.deleted_at is null
  union all
  select t.task_id, 'from', t.recurrence_of, 'recurs', 'recurrence:' || t.task_id, 'recurrence_of', t.task_id, t.recurrence_of, t.created_by,
    t.created_at from tasks t where t.recurrence_of is not null;
