-- Projects, cycles and tasks. Ids are UUIDv7, except "task_id", which is text because clients may choose it.

-- Item ids are unique over all six item types, whether generated or chosen by a client.
create table item_keys (
  item_id text primary key,
  item_type text not null check (item_type in ('task', 'project', 'file', 'note', 'whiteboard', 'doc'))
);

create table projects (
  project_id uuid primary key default uuidv7(),
  team_id uuid not null references teams,
  name text not null,
  description text,
  status text not null default 'active' check (status in ('active', 'archived', 'completed')),
  start_date date,
  end_date date,
  created_by uuid not null references users,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  deleted_by uuid references users,
  cascade_id uuid,
  -- Work items are replaced by version, so projects have one too.
  version integer not null default 1,
  check (end_date >= start_date),
  -- Target of foreign keys from a project's content that include the team.
  unique (project_id, team_id)
);
create index projects_of_team on projects (team_id, created_at, project_id) where deleted_at is null;
create index trashed_projects on projects (team_id, deleted_at) where deleted_at is not null;
-- Projects are found by the text of their id, as every item is.
create unique index projects_by_item_id on projects ((project_id::text));

create table cycles (
  cycle_id uuid primary key default uuidv7(),
  team_id uuid not null references teams,
  -- Null: the cycle may hold tasks of any project of the team.
  project_id uuid,
  -- Counts the cycles of the team and project.
  number integer not null,
  name text not null,
  goal text,
  start_date date,
  end_date date,
  status text not null default 'planned' check (status in ('planned', 'active', 'completed')),
  auto_complete boolean not null default false,
  -- Figures at the completion: {committed, added, completed, carried_over, points, days}.
  snapshot jsonb,
  created_by uuid not null references users,
  -- Users who created or started it or changed its dates: the causes of a completion by date.
  cause_user_ids uuid[] not null,
  -- Of the last request that changed it.
  correlation_id uuid not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz,
  check (end_date >= start_date),
  check (not auto_complete or end_date is not null),
  check ((status = 'planned') = (started_at is null)),
  check ((status = 'completed') = (completed_at is not null) and (status = 'completed') = (snapshot is not null)),
  foreign key (project_id, team_id) references projects (project_id, team_id)
);
-- Also finds the cycles of a team.
create unique index cycles_by_number on cycles (team_id, project_id, number) nulls not distinct;
create index cycles_of_team on cycles (team_id, created_at, cycle_id);
create index cycles_of_project on cycles (project_id) where project_id is not null;
create unique index active_cycle on cycles (team_id, project_id) nulls not distinct where status = 'active';
create index cycles_to_complete on cycles (cycle_id) where status = 'active' and auto_complete;

create table tasks (
  task_id text primary key references item_keys,
  project_id uuid not null,
  team_id uuid not null,
  title text not null,
  description text,
  assigned_to uuid references users,
  status text not null default 'todo' check (status in ('todo', 'in_progress', 'in_review', 'done')),
  priority text not null default 'medium' check (priority in ('low', 'medium', 'high', 'urgent')),
  due_date text check (due_date ~ '^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d\.\d{3}Z|)$'),
  tags text[] not null default '{}',
  estimated_hours double precision check (estimated_hours between 0 and 1000),
  actual_hours double precision not null default 0 check (actual_hours >= 0),
  parent_task_id text references tasks,
  position double precision,
  created_by uuid not null references users,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  completed_at timestamptz,
  is_archived boolean not null default false,
  forge_links jsonb not null default '[]',
  version integer not null default 1,
  deleted_at timestamptz,
  deleted_by uuid references users,
  cascade_id uuid,
  recurrence jsonb,
  series_id uuid,
  occurrence_index integer,
  -- Link to the previous occurrence; purging that one clears it.
  recurrence_of text references tasks on delete set null,
  cycle_id uuid references cycles on delete set null,
  -- Users behind the due date: whoever set it, and whoever has since made it come due again by reopening, unarchiving, restoring or moving the
  -- task, each with the users behind them. Empty if an earlier version of the service set it: then the task's creator stands for them.
  due_set_by uuid[] not null default '{}',
  foreign key (project_id, team_id) references projects (project_id, team_id),
  constraint occurrence_is_numbered check ((series_id is null) = (occurrence_index is null))
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02);
create index tasks_of_project on tasks (project_id, position nulls last, created_at, task_id) where deleted_at is null;
create index tasks_of_team on tasks (team_id, position nulls last, created_at, task_id) where deleted_at is null;
create index trashed_tasks on tasks (team_id, deleted_at) where deleted_at is not null;
create index tasks_of_assignee on tasks (assigned_to, position nulls last, created_at, task_id)
  where deleted_at is null and assigned_to is not null;
create index tasks_of_cascade on tasks (cascade_id) where cascade_id is not null;
-- Siblings in order without a sort.
create index tasks_of_parent on tasks (parent_task_id, position nulls last, created_at, task_id) where parent_task_id is not null;
-- The final guard: whatever is repeated, an occurrence has one successor.
create unique index tasks_of_series on tasks (series_id, occurrence_index) where series_id is not null;
create index successors_of_task on tasks (recurrence_of) where recurrence_of is not null;
create index tasks_due on tasks (due_date) where deleted_at is null and status <> 'done' and due_date is not null;
-- Tasks in the order of the work-item list, which reads keys first and needs index-only scans.
create index tasks_by_time_of_team on tasks (team_id, created_at, task_id) where deleted_at is null;
create index tasks_by_time_of_project on tasks (project_id, created_at, task_id) where deleted_at is null;
-- In the order of a list. An update of other columns stays in its page.
create index tasks_of_cycle on tasks (cycle_id, position nulls last, created_at, task_id) where cycle_id is not null;
-- The order of a view by due date, and its bounds. Tasks without a date belong to it: they come last.
create index tasks_by_due_date on tasks (team_id, (due_date collate "C"), created_at, task_id) where deleted_at is null;

-- A task as the API shows it. A row type, because it serializes to JSON in two thirds of the time of json_build_object, and is shorter.
create type task_record as (task_id text, title text, project_id uuid, team_id uuid, description text, assigned_to uuid, status text,
  priority text, due_date text, tags text[], estimated_hours double precision, actual_hours double precision, parent_task_id text,
  position double precision, created_by uuid, created_at text, updated_at text, completed_at text, is_archived boolean,
  recurrence jsonb, series_id uuid, occurrence_index integer, recurrence_of text, forge_links jsonb, version integer,
  cycle_id uuid);

-- One definition for reads, lists, events and audit diffs.
create or replace function task_json(t tasks) returns json language sql stable as $$
  select row_to_json(row(t.task_id, t.title, t.project_id, t.team_id, t.description, t.assigned_to, t.status, t.priority, t.due_date,
    t.tags, t.estimated_hours, t.actual_hours, t.parent_task_id, t.position, t.created_by,
    to_char(t.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    to_char(t.updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    to_char(t.completed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    t.is_archived, t.recurrence, t.series_id, t.occurrence_index, t.recurrence_of, t.forge_links, t.version, t.cycle_id)::task_record)
$$;

create table comments (
  comment_id uuid primary key default uuidv7(),
  task_id text not null references tasks,
  team_id uuid not null references teams,
  parent_comment_id uuid references comments,
  content text not null,
  author_id uuid not null references users,
  mentions uuid[] not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  edited boolean not null default false,
  deleted_at timestamptz
);
create index comments_of_task on comments (task_id, created_at);

-- A task is announced as due soon and as overdue once per due date.
create table task_due_events (
  task_id text not null references tasks on delete cascade,
  kind text not null check (kind in ('due_soon', 'overdue')),
  due_date text not null,
  marked_at timestamptz not null default now(),
  primary key (task_id, kind, due_date)
);
