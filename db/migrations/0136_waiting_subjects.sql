-- What each gate, plan and change request that waits is about: "<team or person> <id of an item>", so that the page of a task finds what waits for it.
-- Triggers write it with the text that people are shown, also for processes of the version before. Null where nothing is named.
alter table gates add column if not exists subjects text[];
alter table agent_plans add column if not exists subjects text[];
alter table change_requests add column if not exists subjects text[];

-- The items that a canonical text names, under fixed names of fields: a quote inside of a text of JSON is escaped, so no value looks like a field.
-- A task of a change request may also be its name, such as "HAR-12". The shape is tested after the match: within it, it would cost twenty times as much.
create or replace function named_subjects(place uuid, content text) returns text[] language sql immutable parallel safe as $$
  select nullif(array(
    select distinct place::text || ' ' || m[2]
    from regexp_matches(content, '"(entity_id|task_id|parent_task_id|source_id|target_id|item_id|task)":"([^"]+)"', 'g') m
    where length(m[2]) <= 128 and m[2] ~ '^[A-Za-z0-9_][A-Za-z0-9._:@-]*$'
    limit 200), '{}')
$$;

-- A gate is also about the task of its run's event, even before its actions are staged. A caller may have made the event up: only what an id looks like
-- goes into the index, which takes no long entry.
create or replace function gate_subjects() returns trigger language plpgsql as $$
begin
  select nullif(array_remove(coalesce(named_subjects(coalesce(r.team_id, r.creator_id), new.staged), '{}')
    || case when r.event #>> '{task,task_id}' ~ '^[A-Za-z0-9_][A-Za-z0-9._:@-]{0,127}$'
      then coalesce(r.team_id, r.creator_id)::text || ' ' || (r.event #>> '{task,task_id}') end, null), '{}')
  into new.subjects from automation_runs r where r.run_id = new.run_id;
  return new;
end $$;
create or replace trigger gate_names_subjects before insert or update of staged on gates for each row execute function gate_subjects();

create or replace function plan_subjects() returns trigger language plpgsql as $$
begin
  new.subjects := named_subjects(coalesce(new.team_id, new.owner_id), new.canonical);
  return new;
end $$;
create or replace trigger plan_names_subjects before insert or update of canonical on agent_plans for each row execute function plan_subjects();

create or replace function request_subjects() returns trigger language plpgsql as $$
begin
  new.subjects := named_subjects(new.team_id, new.canonical);
  return new;
end $$;
create or replace trigger request_names_subjects before insert or update of canonical on change_requests
  for each row execute function request_subjects();

-- A run that ends at its gate leaves the gate undecided: it waits no more.
create or replace function forget_subjects() returns trigger language plpgsql as $$
begin
  update gates g set subjects = null where g.run_id = new.run_id and g.decision is null and g.subjects is not null;
  return null;
end $$;
create or replace trigger run_forgets_subjects after update of status on automation_runs for each row
  when (old.status = 'paused' and new.finished_at is not null) execute function forget_subjects();
