-- An import says in its transactions, by assent.import, that its rows start no automation ("quiet") or may ("loud"). Without an import it is empty.

-- The setting is stable, so that existing rows are not rewritten. A relay of the version before ignores the column.
alter table outbox add column is_quiet boolean default current_setting('assent.import', true) = 'quiet';

-- What an import writes is told once, at its end.
create function drop_mark() returns trigger language plpgsql as $$
begin
  return null;
end $$;
create trigger import_leaves_no_mark before insert on notice_marks for each row when (current_setting('assent.import', true) <> '')
  execute function drop_mark();

-- Tasks that the last notice of a group stands for besides its own; "more" counts them, and those beyond the ones that are listed.
alter table notifications add column folded text[] not null default '{}';

-- An import takes the numbers of its tasks beforehand, in the order of its file, where parents are written before their subtasks.
create or replace function number_task() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- What is tried and rolled back takes no number.
  if current_setting('assent.dry_run', true) = 'on' then return new; end if;
  new.number := coalesce(new.number, nextval(format('task_numbers.%I', new.team_id)::regclass));
  return new;
end $$;
create function take_task_numbers(team uuid, amount integer) returns integer[] language plpgsql security definer set search_path = public, pg_temp as $$
begin
  return array(select nextval(format('task_numbers.%I', team)::regclass)::integer from generate_series(1, amount) as n order by n);
end $$;
