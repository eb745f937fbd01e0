-- The history of the tasks of cycles, the clock of a cycle, and times from issue to merge.

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

-- Deliveries come in any order: an issue event writes "opened_at", a merge "pr_number" and "merged_at". A row with both is a sample.
create table cycle_times (
  team_id uuid not null references teams,
  repo text not null check (repo = lower(repo)),
  issue_number integer not null,
  opened_at timestamptz,
  -- The issue was reopened at least once.
  reopened boolean not null default false,
  -- The newest merged pull request that closes the issue.
  pr_number integer,
  merged_at timestamptz,
  -- Project and task of the issue when the delivery came.
  project_id uuid references projects on delete set null,
  task_id text references tasks on delete set null,
  primary key (team_id, repo, issue_number),
  check ((pr_number is null) = (merged_at is null))
);
create index cycle_times_of_team on cycle_times (team_id, merged_at desc) include (repo, project_id, opened_at)
  where merged_at is not null and opened_at is not null;
create index cycle_times_of_project on cycle_times (project_id) where project_id is not null;
create index cycle_times_of_task on cycle_times (task_id) where task_id is not null;
