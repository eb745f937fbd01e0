-- Extensions, and partitions by the time in a UUIDv7 key (docs/adr/0019-partitions.md).

create extension if not exists pg_trgm;
create extension if not exists unaccent;
create extension if not exists btree_gin;
create extension if not exists fuzzystrmatch;

-- One row for each partitioned table, written by register_partitions. Only the owner of the schema may write here, because maintain_partitions
-- acts as the owner for whoever calls it. "keep": whole units before the present one; null: nothing is ever dropped.
create table partition_plans (
  table_name text primary key,
  key_column text not null,
  unit text not null check (unit in ('month', 'day')),
  ahead integer not null check (ahead between 1 and 60),
  keep integer check (keep > 0),
  append_only boolean not null,
  options text check (options ~ '^[a-z_]+ = [0-9.]+(, [a-z_]+ = [0-9.]+)*$')
);

-- Lowest UUIDv7 of a moment.
create function uuid_at(moment timestamptz) returns uuid language sql immutable strict parallel safe as $$
  select (lpad(to_hex(floor(extract(epoch from moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

create function partition_name(of_table text, unit text, starts timestamp) returns text language sql immutable strict as $$
  select of_table || to_char(starts, case unit when 'month' then '_YYYY_MM' else '_YYYY_MM_DD' end)
$$;

-- Default privileges grant the service's role every new table.
create function revoke_from_others(of_table regclass, privileges text) returns void language plpgsql as $$
declare role text;
begin
  for role in select distinct a.grantee::regrole::text from pg_class c cross join aclexplode(c.relacl) a
    where c.oid = of_table and a.grantee not in (0, c.relowner)
  loop
    execute format('revoke %s on %s from %s', privileges, of_table, role);
  end loop;
  execute format('revoke %s on %s from public', privileges, of_table);
end $$;
select revoke_from_others('partition_plans', 'insert, update, delete, truncate');

-- Row triggers of the parent reach each partition by themselves. Statement triggers do not, and a partition may be named directly.
create function guard_partition(of_table text, partition text) returns void language plpgsql as $$
begin
  execute format('create trigger %I before truncate on %I for each statement execute function refuse_change()', of_table || '_keep', partition);
  perform revoke_from_others(partition::regclass, 'all');
end $$;

-- Creates one partition and attaches it; false if it exists. Writers do not wait: attaching conflicts with readers of the default partition
-- only. Rows of the period that stand in the default partition are moved, at most max_moved, because the move holds its lock.
create function make_partition(of_table text, starts timestamp, max_moved integer) returns boolean language plpgsql as $$
declare
  plan partition_plans;
  name text;
  rest text := of_table || '_default';
  lower uuid;
  upper uuid;
  misplaced bigint;
begin
  select * into strict plan from partition_plans p where p.table_name = of_table;
  name := partition_name(of_table, plan.unit, starts);
  lower := uuid_at(starts at time zone 'UTC');
  upper := uuid_at((starts + ('1 ' || plan.unit)::interval) at time zone 'UTC');
  if exists (select from pg_inherits where inhparent = of_table::regclass and inhrelid = to_regclass(name)) then return false; end if;
  execute format('select count(*) from (select from %1$I where %2$I >= $1 and %2$I < $2 limit $3) found', rest, plan.key_column)
    into misplaced using lower, upper, max_moved + 1;
  if misplaced > max_moved then raise 'more than % rows of it are in %', max_moved, rest using errcode = '23514'; end if;
  execute format('create table %I (like %I including all)%s', name, of_table, ' with (' || plan.options || ')');
  if plan.append_only then perform guard_partition(of_table, name); end if;
  if misplaced > 0 then
    execute format('lock table only %I in share update exclusive mode', of_table);
    execute format('lock table %I in access exclusive mode', rest);
    execute format('alter table %I disable trigger user', rest);
    execute format('with moved as (delete from %1$I where %2$I >= $1 and %2$I < $2 returning *) insert into %3$I select * from moved',
      rest, plan.key_column, name) using lower, upper;
    execute format('alter table %I enable trigger user', rest);
  end if;
  execute format('alter table %I attach partition %I for values from (%L) to (%L)', of_table, name, lower, upper);
  return true;
end $$;

-- Partitions of a table by upper bound, without the default one.
create function partitions_of(of_table text) returns table (partition text, lower uuid, upper uuid) language sql stable as $$
  select c.relname::text, b.bounds[1]::uuid, b.bounds[2]::uuid from pg_inherits i join pg_class c on c.oid = i.inhrelid
  cross join lateral regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \(''(.{36})''\) TO \(''(.{36})''\)') as b(bounds)
  where i.inhparent = of_table::regclass and b.bounds is not null order by 3
$$;

-- Registers a table that is partitioned by range on its UUIDv7 key, and creates its default partition and those up to "ahead" units from
-- now. "options": storage parameters of each partition.
create function register_partitions(of_table text, unit text, ahead integer, keep integer default null, append_only boolean default false,
  options text default null) returns void language plpgsql as $$
begin
  insert into partition_plans
    select of_table, a.attname, register_partitions.unit, register_partitions.ahead, register_partitions.keep,
      register_partitions.append_only, register_partitions.options
    from pg_partitioned_table p join pg_attribute a on a.attrelid = p.partrelid and a.attnum = p.partattrs[0]
    where p.partrelid = of_table::regclass;
  execute format('create table %I partition of %I default%s', of_table || '_default', of_table, ' with (' || options || ')');
  if append_only then perform guard_partition(of_table, of_table || '_default'); end if;
  perform make_partition(of_table, date_trunc(unit, now() at time zone 'UTC') + n * ('1 ' || unit)::interval, 0)
    from generate_series(0, ahead) n;
end $$;

-- Drops partitions that end before a moment, and deletes at most 1,000 older rows of the default partition. A partition that is in use
-- stays for the next call.
create function drop_partitions_before(of_table text, moment timestamptz, out dropped integer, out problems text[]) language plpgsql as $$
declare
  plan partition_plans;
  old record;
begin
  select * into strict plan from partition_plans p where p.table_name = of_table;
  if plan.append_only then raise '% is append-only', of_table using errcode = '42501'; end if;
  dropped := 0;
  problems := '{}';
  for old in select * from partitions_of(of_table) p where p.upper <= uuid_at(moment) loop
    begin
      execute format('drop table %I', old.partition);
      dropped := dropped + 1;
    exception when lock_not_available then
      problems := problems || format('%s is in use', old.partition);
    end;
  end loop;
  execute format('delete from %1$I where ctid = any(array(select ctid from %1$I where %2$I < $1 limit 1000))', of_table || '_default',
    plan.key_column) using uuid_at(moment);
end $$;

-- Makes the partitions of the present and the next units, then drops those past their time. Acts as the owner of the schema, so that the
-- service's role can call it. What is in use is left for the next call after 250 ms, which is how long readers may wait behind it.
create function maintain_partitions(of_table text, out made integer, out dropped integer, out problems text[])
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '250ms' as $$
declare
  plan partition_plans;
  present timestamp;
  starts timestamp;
  removed record;
begin
  made := 0;
  dropped := 0;
  problems := '{}';
  select * into strict plan from partition_plans p where p.table_name = of_table;
  if not pg_try_advisory_xact_lock(hashtextextended('partitions:' || of_table, 0)) then return; end if;
  present := date_trunc(plan.unit, now() at time zone 'UTC');
  for n in 0 .. plan.ahead loop
    starts := present + n * ('1 ' || plan.unit)::interval;
    begin
      if make_partition(of_table, starts, 5000) then made := made + 1; end if;
    exception when lock_not_available or check_violation or duplicate_table then
      problems := problems || format('%s: %s', partition_name(of_table, plan.unit, starts), sqlerrm);
    end;
  end loop;
  if plan.keep is null then return; end if;
  select * into removed from drop_partitions_before(of_table, (present - plan.keep * ('1 ' || plan.unit)::interval) at time zone 'UTC');
  dropped := removed.dropped;
  problems := problems || removed.problems;
end $$;

-- For the alarms. "ahead": units after the present one with a partition, without a gap; -1: not even the present one has any.
create function partition_state() returns table (table_name text, ahead integer, default_rows integer)
language plpgsql stable security definer set search_path = public, pg_temp as $$
declare plan partition_plans;
begin
  for plan in select * from partition_plans p order by p.table_name loop
    table_name := plan.table_name;
    select min(n) - 1 into ahead from generate_series(0, plan.ahead + 1) n where n > plan.ahead or to_regclass(
      partition_name(plan.table_name, plan.unit, date_trunc(plan.unit, now() at time zone 'UTC') + n * ('1 ' || plan.unit)::interval)) is null;
    execute format('select count(*)::int from (select from %I limit 10000) found', plan.table_name || '_default') into default_rows;
    return next;
  end loop;
end $$;
revoke execute on function revoke_from_others, guard_partition, make_partition, register_partitions, drop_partitions_before from public;
