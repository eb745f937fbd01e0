import type { Knex } from 'knex';

/**
 * Who is behind a due date, a schedule, a plan or a message to the agent, written where it begins and handed on from there. Nothing is
 * searched for later: a long history would hide it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(columns);
  await knex.raw(functions);
  await knex.raw(followSeries);
  await knex.raw(known);
}

const columns = /* sql */ `
-- Users behind the due date: whoever set it, and whoever has since made it come due again by reopening, unarchiving, restoring or moving the
-- task, each with the users behind them. Empty if an earlier version of the service set it: then the task's creator stands for them.
alter table tasks add column due_set_by uuid[] not null default '{}';

-- Users behind the rule of a series.
alter table task_series add column rule_set_by uuid[] not null default '{}';

-- Users who enabled an automation, and who changed its schedule or took it over since.
alter table automations add column enabled_by uuid[] not null default '{}';

-- Users behind a plan: for whom it was staged, and who caused that. The same for a message to the agent, besides its author.
alter table agent_plans add column behind_user_ids uuid[] not null default '{}';
alter table agent_turns add column behind_user_ids uuid[] not null default '{}';
`;

const functions = /* sql */ `
-- The users of both lists, each once.
create function add_people(people uuid[], more uuid[]) returns uuid[] language sql immutable as $$
  select array(select distinct person from unnest(people || more) as person where person is not null)
$$;

-- A caller and the users behind them.
create function people_of_caller(who jsonb) returns uuid[] language plpgsql stable as $$
declare
  actor uuid := (who->>'user_id')::uuid;
  behind uuid[] := people_behind(who);
begin
  if actor is not null and behind = '{}' then return array[actor]; end if;
  return add_people(behind, array[actor]);
end $$;

-- Users behind the cause of a series' change.
create function people_in(cause jsonb) returns uuid[] language sql immutable as $$
  select array(select person::uuid from jsonb_array_elements_text(coalesce(cause->'user_ids', '[]')) as person where person is not null)
$$;
`;

const followSeries = /* sql */ `
-- As before, and it keeps who set the rule, and everybody who has touched the newest occurrence, not only the last one who did.
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
`;

const known = /* sql */ `
-- What is known of the rows that exist. A due date of the task's creator needs no entry.
with known as materialized (
  select t.task_id, t.created_by, people_of_due_date(t.task_id, t.created_by) as people from tasks t
  where t.deleted_at is null and t.due_date is not null
)
update tasks t set due_set_by = add_people(k.people, '{}') from known k where t.task_id = k.task_id and k.people <> array[k.created_by];

update task_series set rule_set_by = array[created_by] where ended_at is null;

-- The last one who changed the automation, and the last one who switched it on.
update automations a set enabled_by = add_people(array[a.updated_by], array(
  select unnest(array[e.user_id, e.impersonator_id]) from audit_entries e
  where e.team_id = a.team_id and e.entity_id = a.automation_id::text and e.entity_type = 'automation' and e.action = 'toggle'
    and e.details::jsonb->>'is_active' = 'true'
  order by e.timestamp desc limit 2
)) where a.is_active and a.deleted_at is null and a.trigger_type = 'schedule';

-- Plans that can still be confirmed or taken back.
update agent_plans p set behind_user_ids = add_people(
    array[p.staged_for, (select t.user_id from personal_access_tokens t where t.token_id = p.token_id)],
    people_of_run((p.trigger->>'run_id')::uuid))
  where p.status in ('staged', 'applied');
`;

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
