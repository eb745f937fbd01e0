-- Shows a column of "tasks" in the record: adds it to "task_record" as the last one, and restates "task_json" from the columns of both. A migration that
-- adds a column to "tasks" calls it; without that call the column stays internal.
create function show_task_column(shown name) returns void language plpgsql as $$
declare
  kind regtype := (select atttypid from pg_attribute where attrelid = 'tasks'::regclass and attname = shown and not attisdropped);
  shown_values text;
begin
  if kind is null then raise exception 'tasks has no column "%"', shown; end if;
  execute format('alter type task_record add attribute %I %s', shown, case kind when 'timestamptz'::regtype then 'text' else kind::text end);
  -- The moments of the record are texts.
  select string_agg(format(case t.atttypid when 'timestamptz'::regtype
      then $sql$to_char(t.%I at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')$sql$ else 't.%I' end, r.attname), ', ' order by r.attnum)
    into shown_values
    from pg_attribute r join pg_attribute t on t.attrelid = 'tasks'::regclass and t.attname = r.attname and not t.attisdropped
    where r.attrelid = 'task_record'::regclass and r.attnum > 0 and not r.attisdropped;
  execute format('create or replace function task_json(t tasks) returns json language sql stable as %L',
    format('select row_to_json(row(%s)::task_record)', shown_values));
end $$;
