import type { Knex } from 'knex';

/** Cycles with the history of their tasks, and the cycle of a task. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(tables);
  await knex.raw(records);
  await knex.raw(moves);
  await knex.raw(clock);
}

const tables = /* sql */ `
insert into event_types (event_type, triggers) values ('cycle.started', '{cycle.started}'), ('cycle.completed', '{cycle.completed}');

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

alter table tasks add column cycle_id uuid references cycles on delete set null;
-- In the order of a list. An update of other columns stays in its page.
create index tasks_of_cycle on tasks (cycle_id, position nulls last, created_at, task_id) where cycle_id is not null;

-- Every stay of a task in a cycle. tasks.cycle_id holds the present one.
create table cycle_tasks (
  cycle_id uuid not null references cycles on delete cascade,
  task_id text not null references tasks on delete cascade,
  added_at timestamptz not null default now(),
  removed_at timestamptz,
  -- The task was there, without subtasks, when the cycle started; "points" are its estimated hours of that moment.
  committed boolean not null default false,
  points double precision,
  -- What became of it at the completion; null for a task that had left, or had subtasks.
  outcome text check (outcome in ('completed', 'carried_over')),
  primary key (cycle_id, task_id)
);
-- A task is in one cycle at a time. Also serves the foreign key.
create unique index cycles_of_task on cycle_tasks (task_id, removed_at) nulls not distinct;
`;

const records = /* sql */ `
alter type task_record add attribute cycle_id uuid;
create or replace function task_json(t tasks) returns json language sql stable as $$
  select row_to_json(row(t.task_id, t.title, t.project_id, t.team_id, t.description, t.assigned_to, t.status, t.priority, t.due_date,
    t.tags, t.estimated_hours, t.actual_hours, t.parent_task_id, t.position, t.created_by,
    to_char(t.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    to_char(t.updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    to_char(t.completed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    t.is_archived, t.recurrence, t.series_id, t.occurrence_index, t.recurrence_of, t.forge_links, t.version, t.cycle_id)::task_record)
$$;

-- A cycle as the API shows it. Its counts are those of the statement's snapshot.
create function cycle_json(c cycles) returns json language sql stable as $$
  select json_build_object('cycle_id', c.cycle_id, 'name', c.name, 'goal', c.goal, 'team_id', c.team_id, 'project_id', c.project_id,
    'number', c.number, 'start_date', c.start_date, 'end_date', c.end_date, 'status', c.status, 'auto_complete', c.auto_complete,
    'task_count', n.tasks, 'done_count', n.done, 'created_by', c.created_by,
    'created_at', to_char(c.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'updated_at', to_char(c.updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'started_at', to_char(c.started_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'completed_at', to_char(c.completed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'snapshot', c.snapshot)
  from (
    select count(*)::int as tasks, count(*) filter (where t.status = 'done')::int as done from tasks t
    where t.cycle_id = c.cycle_id and t.deleted_at is null
  ) n
$$;
`;

const moves = /* sql */ `
-- A task that moves to another project leaves the cycle of its old one.
create function leave_cycle_of_project() returns trigger language plpgsql as $$
begin
  if exists (select from cycles c where c.cycle_id = old.cycle_id and c.project_id <> new.project_id) then
    new.cycle_id := null;
    update cycle_tasks set removed_at = now() where cycle_id = old.cycle_id and task_id = old.task_id and removed_at is null;
  end if;
  return new;
end $$;
create trigger leave_cycle_of_project before update of project_id on tasks for each row
  when (old.cycle_id is not null and old.project_id <> new.project_id) execute function leave_cycle_of_project();
`;

const clock = /* sql */ `
-- The moment at which an active cycle completes by itself: the end of its last day, UTC. Null: it does not.
create function cycle_due(c cycles) returns timestamptz language sql immutable as $$
  select case when c.status = 'active' and c.auto_complete then (c.end_date + 1)::timestamp at time zone 'utc' end
$$;

-- The workflow of a cycle waits for that moment, so whatever changes it notifies the worker.
create function cycle_clock_changed() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if cycle_due(old) is null then return null; end if;
    new := old;
  elsif cycle_due(old) is not distinct from cycle_due(new) then return null;
  end if;
  insert into outbox (kind, subject, team_id, project_id, payload, correlation_id)
    values ('cycle.clock', new.cycle_id::text, new.team_id, new.project_id, jsonb_build_object('cycle_id', new.cycle_id), new.correlation_id);
  return null;
end $$;
create trigger cycle_clock_changed after update or delete on cycles for each row execute function cycle_clock_changed();
`;

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
