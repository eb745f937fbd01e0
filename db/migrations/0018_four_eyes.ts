import type { Knex } from 'knex';

/** Who counts as self at a gate without self-approval in a run caused by another run, and which versions consent to their actions. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(columns);
  await knex.raw(enqueueEvents);
  await knex.raw(followSeries);
}

const columns = /* sql */ `
-- Users behind the cause of an event or run, besides the actor: those who started the runs before it, or wrote their actions. Stored with
-- the row, because earlier runs are deleted after a while.
alter table outbox add column cause_user_ids uuid[] not null default '{}';
alter table automation_runs add column cause_user_ids uuid[] not null default '{}';

-- Users who saved the actions that this version keeps from the previous one, besides changed_by: saving anything else, such as a rename, is
-- no consent to them. Empty if the version's own author gave its actions.
alter table automation_versions add column actions_kept_from uuid[] not null default '{}';

-- The users who caused a delivery, by their accounts at the code host.
create index connections_by_account on integration_connections (provider, lower(account));

-- Open and failed replays: the starter of the replayed run, while it is known.
with recursive line as (
  select r.run_id, r.retry_of from automation_runs r where r.retry_of is not null
  union
  select l.run_id, before.retry_of from line l join automation_runs before on before.run_id = l.retry_of where before.retry_of is not null
)
update automation_runs r set cause_user_ids = known.people from (
  select l.run_id, array_agg(distinct before.triggered_by) as people from line l join automation_runs before on before.run_id = l.retry_of
  where before.triggered_by is not null group by l.run_id
) known where r.run_id = known.run_id;

-- Users to whom a run counts as their own: its automation's creator, the authors of its version, its starter, and the users behind its
-- cause.
create function people_of_run(of_run uuid) returns uuid[] language sql stable as $$
  select array(select distinct person from automation_runs r
    left join automation_versions v on v.automation_id = r.automation_id and v.version = r.automation_version
    cross join lateral unnest(array[r.creator_id, r.triggered_by, v.changed_by] || r.cause_user_ids || v.co_authors) as person
    where r.run_id = of_run and person is not null)
$$;

-- Users behind a caller's action, besides the caller: those of the acting run, those who moved the acting series, the impersonating
-- administrator.
create function people_behind(who jsonb) returns uuid[] language plpgsql stable as $$
declare
  people uuid[] := '{}';
begin
  if who->>'run_id' is not null then people := people_of_run((who->>'run_id')::uuid); end if;
  if who->'cause_user_ids' is not null then
    people := people || array(select jsonb_array_elements_text(who->'cause_user_ids')::uuid);
  end if;
  if who->>'impersonator_id' is not null then people := people || (who->>'impersonator_id')::uuid; end if;
  return people;
end $$;

-- Users behind a task's due date: whoever set it last, according to its newest updates, with the users of the run that did so; otherwise
-- the task's creator.
create function people_of_due_date(task_id text, created_by uuid) returns uuid[] language sql stable as $$
  select coalesce((
    select array_remove(array[e.user_id, e.impersonator_id], null) || people_of_run((e.details->'caused_by'->>'run_id')::uuid)
    from (
      select a.user_id, a.impersonator_id, a.details::jsonb as details from audit_entries a
      where a.team_id = (select t.team_id from tasks t where t.task_id = $1) and a.entity_type = 'task' and a.action = 'update'
        and a.entity_id = $1 order by a.timestamp desc limit 100
    ) e where e.details->'changes'->'due_date' is not null limit 1
  ), array[$2])
$$;
`;

const enqueueEvents = /* sql */ `
-- Unchanged, except for the users behind the caller.
create or replace function enqueue_events(who jsonb, changes change[]) returns integer language plpgsql as $$
declare
  actor uuid := (who->>'user_id')::uuid;
  behind uuid[] := people_behind(who);
  written integer;
  unknown text;
  moved jsonb;
begin
  insert into outbox (kind, subject, event_id, team_id, project_id, actor_id, project_ids, payload, correlation_id, depth, caused_by_run,
      cause_user_ids)
    select 'event', c.event_type, coalesce(c.event_id, uuidv7()), c.team_id, c.project_id, actor,
      case when c.payload->'project_ids' is not null then array(select jsonb_array_elements_text(c.payload->'project_ids')::uuid) end,
      jsonb_build_object('actor_id', who->>'user_id') || coalesce(c.payload, '{}'), (who->>'correlation_id')::uuid,
      coalesce((who->>'depth')::int, 0), (who->>'run_id')::uuid, behind
    from unnest(changes) as c where c.event_type is not null and exists (
      select from event_subscriptions s where s.owner_id in (c.team_id, actor) and c.event_type = any(s.event_types));
  get diagnostics written = row_count;
  if written < cardinality(changes) then
    select c.event_type into unknown from unnest(changes) as c
      where c.event_type is not null and not exists (select from event_types e where e.event_type = c.event_type) limit 1;
    if found then raise exception 'There is no event type %', unknown using errcode = '22023'; end if;
  end if;
  -- Records who moved a recurring task: sync_series runs at the commit, when the caller is no longer known.
  select jsonb_object_agg(c.payload->'task'->>'task_id', jsonb_build_object('actor_id', who->>'user_id',
      'correlation_id', who->>'correlation_id', 'depth', who->'depth', 'run_id', who->>'run_id',
      'user_ids', array_append(behind, actor))) into moved
    from unnest(changes) as c where c.event_type is not null and c.payload->'task'->>'series_id' is not null;
  if moved is not null then
    perform set_config('assent.series_causes',
      (coalesce(nullif(current_setting('assent.series_causes', true), ''), '{}')::jsonb || moved)::text, true);
  end if;
  return written;
end $$;
`;

const followSeries = /* sql */ `
-- Unchanged, except for the users behind the change of the series.
create or replace function sync_series() returns trigger language plpgsql as $$
declare
  task tasks;
  newest tasks;
  series task_series;
  cause jsonb := nullif(current_setting('assent.series_causes', true), '')::jsonb -> coalesce(new.task_id, old.task_id);
  kind text;
begin
  if tg_op = 'DELETE' then task := old; else task := new; end if;
  select s.* into series from task_series s where s.series_id = task.series_id for update;

  if not found then
    if tg_op = 'DELETE' then return null; end if;
    insert into task_series (series_id, team_id, recurrence, created_by, anchor, last_index, last_task_id, completed_index, completed_at, cause)
      values (task.series_id, task.team_id, task.recurrence, coalesce((cause->>'actor_id')::uuid, task.created_by), task.due_date,
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
          series.created_by := coalesce((cause->>'actor_id')::uuid, series.created_by);
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
    series.cause := jsonb_build_object('actor_id', coalesce(cause->>'actor_id', series.created_by::text),
      'correlation_id', coalesce((cause->>'correlation_id')::uuid, uuidv7()), 'depth', coalesce((cause->>'depth')::int, 0),
      'user_ids', coalesce(cause->'user_ids', '[]'));
    insert into outbox (kind, subject, team_id, project_id, payload, correlation_id, depth, caused_by_run)
      values (kind, series.series_id::text, series.team_id, task.project_id,
        jsonb_build_object('series_id', series.series_id, 'occurrence_index', task.occurrence_index),
        (series.cause->>'correlation_id')::uuid, (series.cause->>'depth')::int, (cause->>'run_id')::uuid);
  end if;
  update task_series set recurrence = series.recurrence, created_by = series.created_by, anchor = series.anchor,
    started_at = series.started_at, completed_index = series.completed_index, completed_at = series.completed_at,
    ended_at = series.ended_at, end_reason = series.end_reason, cause = series.cause
    where series_id = series.series_id;
  return null;
end $$;
`;

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
