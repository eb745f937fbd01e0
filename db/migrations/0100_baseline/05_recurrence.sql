-- Recurring tasks: the series, and the triggers that update a series from its occurrences.

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
  cause jsonb not null,
  -- Users behind the rule of the series.
  rule_set_by uuid[] not null default '{}'
);
create index series_of_task on task_series (last_task_id) where last_task_id is not null;
create index series_open on task_series (started_at) where ended_at is null;

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

-- The users of both lists, each once.
create function add_people(people uuid[], more uuid[]) returns uuid[] language sql immutable as $$
  select array(select distinct person from unnest(people || more) as person where person is not null)
$$;

-- Users behind the cause of a series' change.
create function people_in(cause jsonb) returns uuid[] language sql immutable as $$
  select array(select person::uuid from jsonb_array_elements_text(coalesce(cause->'user_ids', '[]')) as person where person is not null)
$$;

-- Any statement that makes a task recurring, ends that, or completes an occurrence also updates the series in the same transaction. The
-- triggers are deferred to the commit, so that the cause from enqueue_events exists, and so that a task is always locked before its series.
-- Other tasks pay for three comparisons. The series keeps who set the rule, and everybody who has touched the newest occurrence, not only the
-- last one who did.
create or replace function sync_series() returns trigger language plpgsql as $$
declare
  task tasks;
  newest tasks;
  series task_series;
  cause jsonb := nullif(current_setting('assent.series_causes', true), '')::jsonb -> coalesce(new.task_id, old.task_id);
  kind text;
  moved boolean := false;
  people uuid[];
begin
  if tg_op = 'DELETE' then task := old; else task := new; end if;
  select s.* into series from task_series s where s.series_id = task.series_id for update;

  if not found then
    if tg_op = 'DELETE' then return null; end if;
    insert into task_series (series_id, team_id, recurrence, created_by, anchor, last_index, last_task_id, completed_index, completed_at, cause,
        rule_set_by)
      values (task.series_id, task.team_id, task.recurrence, coalesce((cause->>'actor_id')::uuid, task.created_by), task.due_date,
        task.occurrence_index, task.task_id, case task.status when 'done' then task.occurrence_index else 0 end, task.completed_at, '{}',
        add_people(people_in(cause), array[task.created_by]))
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
          series.created_by := coalesce((cause->>'actor_id')::uuid, series.created_by);
          series.started_at := now();
          series.completed_index := series.last_index - case newest.status when 'done' then 0 else 1 end;
          series.ended_at := null;
          series.end_reason := null;
        end if;
        if rule_without_end(task.recurrence) is distinct from rule_without_end(series.recurrence) then series.anchor := newest.due_date; end if;
        series.recurrence := task.recurrence;
        if cause is not null then series.rule_set_by := people_in(cause); end if;
        kind := 'series.changed';
      end if;
    end if;
    moved := tg_op = 'UPDATE' and task.task_id = series.last_task_id and task.due_date is distinct from old.due_date;
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

  if kind is not null or moved then
    -- Whoever has touched the newest occurrence stays known until there is a next one.
    people := people_in(cause);
    if (series.cause->>'index')::int = series.last_index then people := add_people(people_in(series.cause), people); end if;
  end if;
  if kind is not null then
    series.cause := jsonb_build_object('actor_id', coalesce(cause->>'actor_id', series.created_by::text),
      'correlation_id', coalesce((cause->>'correlation_id')::uuid, uuidv7()), 'depth', coalesce((cause->>'depth')::int, 0),
      'user_ids', to_jsonb(people), 'index', series.last_index);
    insert into outbox (kind, subject, team_id, project_id, payload, correlation_id, depth, caused_by_run)
      values (kind, series.series_id::text, series.team_id, task.project_id,
        jsonb_build_object('series_id', series.series_id, 'occurrence_index', task.occurrence_index),
        (series.cause->>'correlation_id')::uuid, (series.cause->>'depth')::int, (cause->>'run_id')::uuid);
  elsif moved then
    series.cause := series.cause || jsonb_build_object('user_ids', to_jsonb(people), 'index', series.last_index);
  end if;
  update task_series set recurrence = series.recurrence, created_by = series.created_by, anchor = series.anchor,
    started_at = series.started_at, completed_index = series.completed_index, completed_at = series.completed_at,
    ended_at = series.ended_at, end_reason = series.end_reason, cause = series.cause,
    rule_set_by = series.rule_set_by
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
