-- A cycle that repeats is followed by one of the same length, which begins when it completes by itself. No check binds the column to the dates: a process
-- of the version before does not know it, and may take them away.
alter table cycles add column repeats boolean not null default false;

-- As in 0100_baseline/06_cycles.sql, with the new column.
create or replace function cycle_json(c cycles) returns json language sql stable as $$
  select json_build_object('cycle_id', c.cycle_id, 'name', c.name, 'goal', c.goal, 'team_id', c.team_id, 'project_id', c.project_id,
    'number', c.number, 'start_date', c.start_date, 'end_date', c.end_date, 'status', c.status, 'auto_complete', c.auto_complete,
    'repeats', c.repeats, 'task_count', n.tasks, 'done_count', n.done, 'created_by', c.created_by,
    'created_at', to_char(c.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'updated_at', to_char(c.updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'started_at', to_char(c.started_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'completed_at', to_char(c.completed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'snapshot', c.snapshot)
  from (
    select count(*)::int as tasks, count(*) filter (where t.status = 'done')::int as done from tasks t
    where t.cycle_id = c.cycle_id and t.deleted_at is null
  ) n
$$;
