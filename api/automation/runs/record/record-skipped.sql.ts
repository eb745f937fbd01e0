import { defineStatement } from '../../../../db/statement.js';

/**
 * Records skipped runs. $1 = runs (jsonb array), $2 = how many a team keeps an hour. Locks the hour's row of each team until the
 * commit, so two workers keep no more than that together; in the order of teams, so they cannot deadlock. Counts per automation are
 * striped as in `count_runs`. Returns how many runs were new.
 */
export const recordSkippedStatement = defineStatement({
  name: 'record_skipped_runs',
  text: /* sql */ `
with given as materialized (
  select g.*, coalesce(a.team_id, a.created_by) as owner_id,
    row_number() over (partition by coalesce(a.team_id, a.created_by) order by g.run_id) as place
  from jsonb_to_recordset($1::jsonb) as g(run_id uuid, automation_id uuid, automation_version int, triggered_by uuid, depth int,
    is_loop boolean, condition_error text)
  join automations a using (automation_id)
  where a.deleted_at is null and not exists (select from skipped_runs s where s.run_id = g.run_id)
), wanted as (
  select owner_id, count(*)::int as runs from given group by owner_id order by owner_id
), budget as (
  insert into skipped_run_budgets as b (hour, owner_id, kept, not_kept)
    select date_trunc('hour', now()), owner_id, least(runs, $2::int), greatest(0, runs - $2::int) from wanted
  on conflict (hour, owner_id) do update set
    kept = b.kept + least(excluded.kept + excluded.not_kept, greatest(0, $2::int - b.kept)),
    not_kept = b.not_kept + greatest(0, excluded.kept + excluded.not_kept - greatest(0, $2::int - b.kept))
  returning new.owner_id, new.kept - coalesce(old.kept, 0) as room
), kept as (
  insert into skipped_runs (run_id, automation_id, triggered_by, automation_version, depth, is_loop, condition_error)
  select g.run_id, g.automation_id, g.triggered_by, g.automation_version, least(g.depth, 32767), g.is_loop, g.condition_error
  from given g join budget using (owner_id) where g.place <= room order by g.run_id
  on conflict do nothing
), counted as (
  insert into automation_counts as c (automation_id, shard, runs, skipped_not_kept, last_skipped_at)
    select g.automation_id, pg_backend_pid() % 16, count(*), count(*) filter (where g.place > room), max(uuid_extract_timestamp(g.run_id))
    from given g join budget using (owner_id) group by g.automation_id order by g.automation_id
  on conflict (automation_id, shard) do update set runs = c.runs + excluded.runs,
    skipped_not_kept = c.skipped_not_kept + excluded.skipped_not_kept,
    last_skipped_at = greatest(c.last_skipped_at, excluded.last_skipped_at)
)
select count(*)::int as recorded from given`,
});

/** $1 = run id. */
export const findSkippedStatement = defineStatement({
  name: 'find_skipped_run',
  text: 'select from skipped_runs where run_id = $1',
});
