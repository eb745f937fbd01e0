/** Select list and joins of `AutomationRow`; $1 = caller id. A `where` follows. */
export const SELECT_AUTOMATIONS = /* sql */ `
  select a.*, m.role as seat, runs.run_count, runs.failed_count, runs.skipped_not_kept,
    greatest(newest.queued_at, runs.last_skipped_at) as last_run_at,
    case when runs.last_skipped_at > coalesce(newest.queued_at, '-infinity') then 'skipped' else newest.status end as last_run_status,
    exists (select from projects p where p.project_id = a.project_id and p.deleted_at is not null) as is_in_trashed_project
  from automations a
  left join memberships m on m.team_id = a.team_id and m.user_id = $1
  cross join lateral (
    select coalesce(sum(c.runs), 0)::int as run_count, coalesce(sum(c.failed), 0)::int as failed_count,
      coalesce(sum(c.skipped_not_kept), 0)::int as skipped_not_kept, max(c.last_skipped_at) as last_skipped_at
    from automation_counts c where c.automation_id = a.automation_id
  ) runs
  left join lateral (
    select r.queued_at, r.status from automation_runs r where r.automation_id = a.automation_id and not r.is_test
    order by r.queued_at desc limit 1
  ) newest on true`;

/**
 * Selects the ids of automations that user $1 can see: those of the user's teams and the personal ones, by two index scans.
 * `where` is a condition on automations a.
 */
export const visibleAutomations = (where: string, columns = 'a.automation_id'): string => /* sql */ `
  select ${columns} from memberships m join automations a on a.team_id = m.team_id
  where m.user_id = $1 and ${where}
  union all
  select ${columns} from automations a where a.team_id is null and a.created_by = $1 and ${where}`;
