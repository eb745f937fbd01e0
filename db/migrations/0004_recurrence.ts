import type { Knex } from 'knex';

/** Recurring tasks: columns of an occurrence, the series, and the triggers that update a series from its occurrences. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
alter table tasks
  add column recurrence jsonb,
  add column series_id uuid,
  add column occurrence_index integer,
  -- Link to the previous occurrence; purging that one clears it.
  add column recurrence_of text references tasks on delete set null,
  add constraint occurrence_is_numbered check ((series_id is null) = (occurrence_index is null));
-- The final guard: whatever is repeated, an occurrence has one successor.
create unique index tasks_of_series on tasks (series_id, occurrence_index) where series_id is not null;
create index successors_of_task on tasks (recurrence_of) where recurrence_of is not null;

-- One row per series. Triggers record changes of its occurrences; the series' workflow records what followed.
create table task_series (
  series_id uuid primary key,
  team_id uuid not null references teams,
  recurrence jsonb not null,
  created_by uuid not null references users,
  -- Start of the rule, as a due date; null until there is one. Preserves the 31st through February.
  anchor text,
  started_at timestamptz not null default now(),
  -- The newest occurrence: only this one can have a successor.
  last_index integer not null,
  last_task_id text references tasks on delete set null,
  -- The newest occurrence ever completed; reopening a task does not change it.
  completed_index integer not null default 0,
  completed_at timestamptz,
  -- Scheduled time of the next occurrence, as last computed; null if it waits for something else.
  next_at timestamptz,
  blocked_reason text,
  ended_at timestamptz,
  end_reason text check (end_reason in ('cancelled', 'count', 'until', 'no_date', 'purged')),
  -- Last user to change it, with correlation id and automation depth.
  cause jsonb not null
);
create index series_of_task on task_series (last_task_id) where last_task_id is not null;
create index series_open on task_series (started_at) where ended_at is null;
`);
  await knex.raw(follow);
  await knex.raw(records);
}

/**
 * Any statement that makes a task recurring, ends that, or completes an occurrence also updates the series in the same transaction. These
 * triggers are deferred to the commit, so that the change's outbox event already exists and names the user, and so that a task is always
 * locked before its series. Other tasks pay for three comparisons.
 */
const follow = /* sql */ `
create function number_first_occurrence() returns trigger language plpgsql as $$
begin
  new.series_id := uuidv7();
  new.occurrence_index := 1;
  return new;
end $$;
create trigger first_occurrence before insert or update of recurrence on tasks for each row
  when (new.recurrence is not null and new.series_id is null) execute function number_first_occurrence();

-- A rule without its end: if only COUNT or UNTIL change, the dates stay the same.
create function rule_without_end(recurrence jsonb) returns text language sql immutable as $$
  select string_agg(part, ';' order by part) || ' ' || (recurrence->>'timezone')
  from unnest(string_to_array(recurrence->>'rule', ';')) as part where part !~ '^(COUNT|UNTIL)='
$$;

create function sync_series() returns trigger language plpgsql as $$
declare
  task tasks;
  newest tasks;
  series task_series;
  event outbox;
  kind text;
begin
  if tg_op = 'DELETE' then task := old; else task := new; end if;
  -- Every outbox row of this transaction has its now(); the index on it makes this one lookup.
  select o.* into event from outbox o
    where o.next_attempt_at = now() and o.kind = 'event' and o.payload->'task'->>'task_id' = task.task_id
    order by o.outbox_id desc limit 1;
  select s.* into series from task_series s where s.series_id = task.series_id for update;

  if not found then
    if tg_op = 'DELETE' then return null; end if;
    insert into task_series (series_id, team_id, recurrence, created_by, anchor, last_index, last_task_id, completed_index, completed_at, cause)
      values (task.series_id, task.team_id, task.recurrence, coalesce((event.payload->>'actor_id')::uuid, task.created_by), task.due_date,
        task.occurrence_index, task.task_id, case task.status when 'done' then task.occurrence_index else 0 end, task.completed_at, '{}')
      returning * into series;
    kind := 'series.changed';
  elsif tg_op = 'DELETE' then
    if series.ended_at is null and series.last_task_id is null then kind := 'series.changed'; end if;
  else
    newest := task;
    if task.task_id is distinct from series.last_task_id then
      select t.* into newest from tasks t where t.task_id = series.last_task_id;
    end if;
    if task.recurrence is distinct from old.recurrence
      and task.recurrence is distinct from (case when series.ended_at is null then series.recurrence end)
    then
      if task.recurrence is null then
        series.ended_at := now();
        series.end_reason := 'cancelled';
        kind := 'series.ended';
      else
        if series.ended_at is not null then
          series.created_by := coalesce((event.payload->>'actor_id')::uuid, series.created_by);
          series.started_at := now();
          series.completed_index := series.last_index - case newest.status when 'done' then 0 else 1 end;
          series.ended_at := null;
          series.end_reason := null;
        end if;
        if rule_without_end(task.recurrence) is distinct from rule_without_end(series.recurrence) then series.anchor := newest.due_date; end if;
        series.recurrence := task.recurrence;
        kind := 'series.changed';
      end if;
    end if;
    -- Before the first recurrence, moving the task moves the series; later, only this occurrence.
    if newest.due_date is distinct from series.anchor and (series.last_index = 1 or series.anchor is null) then
      series.anchor := newest.due_date;
    end if;
    if task.task_id = series.last_task_id and series.ended_at is null and kind is null
      and ((task.deleted_at is null) <> (old.deleted_at is null)
        or task.due_date is distinct from old.due_date and series.recurrence->>'mode' = 'on_schedule')
    then
      kind := 'series.changed';
    end if;
    if task.status = 'done' and old.status <> 'done' and task.occurrence_index > series.completed_index then
      series.completed_index := task.occurrence_index;
      series.completed_at := task.completed_at;
      if series.ended_at is null and task.occurrence_index = series.last_index then kind := 'series.completed'; end if;
    end if;
  end if;

  if kind is not null then
    series.cause := jsonb_build_object('actor_id', coalesce(event.payload->>'actor_id', series.created_by::text),
      'correlation_id', coalesce(event.correlation_id, uuidv7()), 'depth', coalesce(event.depth, 0));
    insert into outbox (kind, subject, team_id, project_id, payload, correlation_id, depth, caused_by_run)
      values (kind, series.series_id::text, series.team_id, task.project_id,
        jsonb_build_object('series_id', series.series_id, 'occurrence_index', task.occurrence_index),
        (series.cause->>'correlation_id')::uuid, (series.cause->>'depth')::int, event.caused_by_run);
  end if;
  update task_series set recurrence = series.recurrence, created_by = series.created_by, anchor = series.anchor,
    started_at = series.started_at, completed_index = series.completed_index, completed_at = series.completed_at,
    ended_at = series.ended_at, end_reason = series.end_reason, cause = series.cause
    where series_id = series.series_id;
  return null;
end $$;

create constraint trigger series_starts after insert on tasks deferrable initially deferred for each row
  when (new.recurrence is not null and new.recurrence_of is null) execute function sync_series();
create constraint trigger series_moves after update on tasks deferrable initially deferred for each row
  when (new.series_id is not null and (old.recurrence is distinct from new.recurrence or old.due_date is distinct from new.due_date
    or (new.status = 'done' and old.status <> 'done') or (old.deleted_at is null) <> (new.deleted_at is null)))
  execute function sync_series();
create constraint trigger series_loses after delete on tasks deferrable initially deferred for each row
  when (old.series_id is not null) execute function sync_series();
`;

const records = /* sql */ `
-- A task as the API shows it. One definition for reads, lists, events and audit diffs. A row type, because it serializes to JSON in two
-- thirds of the time of json_build_object, and is shorter.
create type task_record as (task_id text, title text, project_id uuid, team_id uuid, description text, assigned_to uuid, status text,
  priority text, due_date text, tags text[], estimated_hours double precision, actual_hours double precision, parent_task_id text,
  position double precision, created_by uuid, created_at text, updated_at text, completed_at text, is_archived boolean,
  recurrence jsonb, series_id uuid, occurrence_index integer, recurrence_of text, forge_links jsonb, version integer);
create or replace function task_json(t tasks) returns json language sql stable as $$
  select row_to_json(row(t.task_id, t.title, t.project_id, t.team_id, t.description, t.assigned_to, t.status, t.priority, t.due_date,
    t.tags, t.estimated_hours, t.actual_hours, t.parent_task_id, t.position, t.created_by,
    to_char(t.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    to_char(t.updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    to_char(t.completed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    t.is_archived, t.recurrence, t.series_id, t.occurrence_index, t.recurrence_of, t.forge_links, t.version)::task_record)
$$;
`;

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
