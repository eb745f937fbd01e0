-- Tasks are numbered within their team, as people name them: HAR-12. The numbers of a team come from a sequence of its own: taking one waits for
-- nobody, and tells nothing about other teams. A transaction that fails leaves a gap.
create schema if not exists task_numbers;

alter table teams add key text constraint team_key check (key ~ '^[A-Z][A-Z0-9]{0,5}$');
alter table tasks add number integer;
select show_task_column('number');

-- Three letters of the name. Teams may share a key: whoever may read both is asked which one is meant.
create function make_team_key(name text) returns text language sql immutable as $$
  select coalesce(nullif(left(ltrim(upper(regexp_replace(normalize(name, NFD), '[^A-Za-z0-9]', '', 'g')), '0123456789'), 3), ''), 'T')
$$;

create function make_task_numbers(team uuid) returns void language plpgsql as $$
begin
  execute format('create sequence if not exists task_numbers.%I as integer', team);
end $$;
create function next_task_number(team uuid) returns integer language sql as $$
  select nextval(format('task_numbers.%I', team)::regclass)::integer
$$;

-- The role of the service may create no sequence and reads none: the triggers run with the rights of the owner.
create function begin_task_numbers() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform make_task_numbers(new.team_id);
  new.key := coalesce(new.key, make_team_key(new.name));
  return new;
end $$;
create function end_task_numbers() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  execute format('drop sequence if exists task_numbers.%I', old.team_id);
  return null;
end $$;
create function number_task() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- What is tried and rolled back takes no number.
  if current_setting('assent.dry_run', true) = 'on' then return new; end if;
  new.number := nextval(format('task_numbers.%I', new.team_id)::regclass);
  return new;
end $$;

revoke execute on function make_task_numbers, next_task_number, begin_task_numbers, end_task_numbers, number_task from public;
create trigger team_counts_tasks before insert on teams for each row execute function begin_task_numbers();
create trigger team_ends_counting after delete on teams for each row execute function end_task_numbers();
