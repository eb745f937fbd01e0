import type { Knex } from 'knex';

/** Writes events only for teams and users with a subscriber; parks rows that keep failing. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(tables);
  await knex.raw(subscriptions);
  await knex.raw(events);
  await knex.raw(followSeries);
  await knex.raw(backfill);
}

const tables = /* sql */ `
-- Every event type (api/core/events/event-types.ts), with the automation triggers that it may match.
create table event_types (event_type text primary key, triggers text[] not null);
insert into event_types (event_type, triggers) values
  ('task.created', '{task.created,task.assigned}'),
  ('task.updated', '{task.updated,task.status_changed,task.completed,task.assigned}'),
  ('task.deleted', '{task.deleted}'),
  ('task.restored', '{task.restored}'),
  ('task.due_soon', '{task.due_soon}'),
  ('task.overdue', '{task.overdue}'),
  ('comment.created', '{comment.created}'),
  ('project.created', '{project.created}'),
  ('project.updated', '{project.updated,project.status_changed}'),
  ('project.deleted', '{project.deleted}'),
  ('team.member_added', '{team.member_added}'),
  ('team.member_removed', '{team.member_removed}'),
  ('automation.run_failed', '{automation.run_failed}'),
  ('automation.run_paused', '{automation.run_paused}'),
  ('approval.requested', '{approval.requested}'),
  ('approval.decided', '{approval.decided}'),
  ('approval.expired', '{approval.expired}'),
  ('forge.issue_opened', '{forge.issue_opened,forge.issue,forge.*}'),
  ('forge.issue_closed', '{forge.issue_closed,forge.issue,forge.*}'),
  ('forge.issue_reopened', '{forge.issue_reopened,forge.issue,forge.*}'),
  ('forge.pr_opened', '{forge.pr_opened,forge.pull_request,forge.*}'),
  ('forge.pr_synchronize', '{forge.pr_synchronize,forge.pull_request,forge.*}'),
  ('forge.pr_merged', '{forge.pr_merged,forge.pull_request,forge.*}'),
  ('forge.pr_closed', '{forge.pr_closed,forge.pull_request,forge.*}'),
  ('forge.push', '{forge.push,forge.*}'),
  ('forge.release_published', '{forge.release_published,forge.*}'),
  ('forge.check_suite_failed', '{forge.check_suite_failed,forge.*}'),
  ('forge.workflow_run_failed', '{forge.workflow_run_failed,forge.*}'),
  ('security.dependency_alert', '{security.dependency_alert}');

-- Event types that a team, or a user with personal automations, subscribes to: one row per owner and subscriber kind. Writers read it
-- without a lock. Only the trigger on the kind's own table writes it.
create table event_subscriptions (
  owner_id uuid not null,
  kind text not null,
  event_types text[] not null default '{}',
  primary key (owner_id, kind)
);

-- "failures" counts failures of the row itself; "attempts" every attempt, for the backoff. "matched_up_to" is the last subscriber that was
-- matched with an event, as kind:id. A parked row is due at infinity, so no poll reads it.
alter table outbox
  add column actor_id uuid,
  add column project_ids uuid[],
  add column matched_up_to text,
  add column failures integer not null default 0,
  add column parked_at timestamptz;
drop index outbox_due;
create index outbox_work on outbox (kind, next_attempt_at, outbox_id) where kind <> 'event';
create index outbox_events on outbox (coalesce(team_id, actor_id, '00000000-0000-0000-0000-000000000000'), next_attempt_at, outbox_id)
  where kind = 'event' and parked_at is null;
create index outbox_starts on outbox (coalesce(team_id, actor_id, '00000000-0000-0000-0000-000000000000'), next_attempt_at, outbox_id)
  where kind = 'run.start';
create index outbox_parked on outbox (parked_at) where parked_at is not null;

-- Delay before the next attempt: exponential, at most a minute.
create function outbox_backoff(attempts integer) returns interval language sql immutable as $$
  select make_interval(secs => least(60, power(2, least(attempts, 6))))
$$;
`;

const subscriptions = /* sql */ `
-- Recomputes the row of one owner. Locks it in a separate statement: the next statement then sees what the previous lock owner committed,
-- so two concurrent changes of automations both count.
create function refresh_automation_subscriptions(owner uuid) returns void language plpgsql as $$
begin
  insert into event_subscriptions (owner_id, kind) values (owner, 'automation') on conflict do nothing;
  perform from event_subscriptions s where s.owner_id = owner and s.kind = 'automation' for update;
  update event_subscriptions s set event_types = wanted.event_types
  from (
    select coalesce(array_agg(e.event_type order by e.event_type), '{}') as event_types from event_types e
    where exists (select from automations a where a.team_id = owner and a.trigger_type = any(e.triggers)
        and a.is_active and a.deleted_at is null)
      or exists (select from automations a where a.team_id is null and a.created_by = owner and a.trigger_type = any(e.triggers)
        and a.is_active and a.deleted_at is null)
  ) wanted
  where s.owner_id = owner and s.kind = 'automation' and s.event_types is distinct from wanted.event_types;
end $$;

-- Owners in a fixed order, so that two statements cannot deadlock.
create function automations_inserted() returns trigger language plpgsql as $$
begin
  perform refresh_automation_subscriptions(o.owner_id)
  from (select distinct coalesce(team_id, created_by) as owner_id from changed where is_active and deleted_at is null order by 1) o;
  return null;
end $$;
create function automations_updated() returns trigger language plpgsql as $$
begin
  perform refresh_automation_subscriptions(o.owner_id)
  from (
    select distinct owner.owner_id from was w join changed c using (automation_id)
    cross join lateral (values (coalesce(w.team_id, w.created_by)), (coalesce(c.team_id, c.created_by))) owner (owner_id)
    where (w.trigger_type, w.is_active and w.deleted_at is null, w.team_id, w.created_by)
      is distinct from (c.trigger_type, c.is_active and c.deleted_at is null, c.team_id, c.created_by)
    order by 1
  ) o;
  return null;
end $$;
create trigger automations_inserted after insert on automations referencing new table as changed
  for each statement execute function automations_inserted();
create trigger automations_deleted after delete on automations referencing old table as changed
  for each statement execute function automations_inserted();
create trigger automations_updated after update on automations referencing old table as was new table as changed
  for each statement execute function automations_updated();
`;

const events = /* sql */ `
-- The single writer of events: one row for each change whose team or actor has a subscriber to its type. A plain read: a subscriber enabled
-- concurrently receives what is written after its commit. Returns the number of rows.
create function enqueue_events(who jsonb, changes change[]) returns integer language plpgsql as $$
declare
  actor uuid := (who->>'user_id')::uuid;
  written integer;
  unknown text;
  moved jsonb;
begin
  insert into outbox (kind, subject, event_id, team_id, project_id, actor_id, project_ids, payload, correlation_id, depth, caused_by_run)
    select 'event', c.event_type, coalesce(c.event_id, uuidv7()), c.team_id, c.project_id, actor,
      case when c.payload->'project_ids' is not null then array(select jsonb_array_elements_text(c.payload->'project_ids')::uuid) end,
      jsonb_build_object('actor_id', who->>'user_id') || coalesce(c.payload, '{}'), (who->>'correlation_id')::uuid,
      coalesce((who->>'depth')::int, 0), (who->>'run_id')::uuid
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
      'correlation_id', who->>'correlation_id', 'depth', who->'depth', 'run_id', who->>'run_id')) into moved
    from unnest(changes) as c where c.event_type is not null and c.payload->'task'->>'series_id' is not null;
  if moved is not null then
    perform set_config('assent.series_causes',
      (coalesce(nullif(current_setting('assent.series_causes', true), ''), '{}')::jsonb || moved)::text, true);
  end if;
  return written;
end $$;
`;

const followSeries = /* sql */ `
-- Unchanged, except for the cause from enqueue_events: an event without a subscriber leaves no row.
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
      'correlation_id', coalesce((cause->>'correlation_id')::uuid, uuidv7()), 'depth', coalesce((cause->>'depth')::int, 0));
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

const backfill = /* sql */ `
update outbox set
  actor_id = case when pg_input_is_valid(payload->>'actor_id', 'uuid') then (payload->>'actor_id')::uuid end,
  project_ids = case when payload->'project_ids' is not null then array(select jsonb_array_elements_text(payload->'project_ids')::uuid) end
  where kind = 'event';
select count(refresh_automation_subscriptions(o.owner_id)::text)
  from (select distinct coalesce(team_id, created_by) as owner_id from automations where is_active and deleted_at is null) o;
`;

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
