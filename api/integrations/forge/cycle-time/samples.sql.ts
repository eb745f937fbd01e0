/**
 * The common table expressions of the cycle-time statements: `merged`, one row for each team that is bound to the repository of an issue, and `samples`, one for each
 * issue, with `hours` from its opening to its merge. $1 = caller id, $2 = team id or null, $3 = days, $4 = roles that may read. `filter`:
 * a further condition on `t`, the rows of `cycle_times`.
 */
export const samplesSql = (filter = 'true'): string => /* sql */ `
seats as materialized (
  select team_id from memberships where user_id = $1 and role = any($4::text[]) and ($2::uuid is null or team_id = $2)
), merged as materialized (
  select c.*, greatest(extract(epoch from c.merged_at - c.opened_at) / 3600, 0) as hours
  from seats s cross join lateral (
    select t.repo, t.issue_number, t.pr_number, t.project_id, t.task_id, t.opened_at, t.merged_at, t.reopened from cycle_times t
    where t.team_id = s.team_id and t.merged_at is not null and t.opened_at is not null
      and t.merged_at >= now() - make_interval(days => $3::int) and ${filter}
  ) c
), samples as materialized (
  select distinct on (repo, issue_number) * from merged order by repo, issue_number, merged_at desc
)`;
