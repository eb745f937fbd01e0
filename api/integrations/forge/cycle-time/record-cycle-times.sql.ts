import { defineStatement } from '../../../../db/statement.js';

/**
 * $1 = repository, $2 = issue numbers, $3 = team ids, $4 = opened at or null, $5 = whether the issue was reopened, $6 = pull request number or
 * null, $7 = merged at or null. Keeps the earliest opening and the newest merge, whatever order deliveries come in. In key order, which
 * prevents deadlocks.
 */
export const recordCycleTimesStatement = defineStatement({
  name: 'record_cycle_times',
  text: /* sql */ `
    insert into cycle_times as c (team_id, repo, issue_number, opened_at, reopened, pr_number, merged_at, project_id, task_id)
    select team.team_id, $1, issue.number, $4::timestamptz, $5, $6::int, $7::timestamptz, coalesce(task.project_id, bound.project_id), task.task_id
    from unnest($3::uuid[]) as team(team_id) cross join unnest($2::int[]) as issue(number)
    left join lateral (
      select t.task_id, t.project_id from forge_links l join tasks t using (task_id)
      where l.repo = $1 and l.kind = 'issue' and l.number = issue.number and t.team_id = team.team_id
      order by l.created_at, t.task_id limit 1
    ) task on true
    left join lateral (
      select r.project_id from forge_repositories r
      where r.repo = $1 and r.team_id = team.team_id and r.project_id is not null order by r.created_at, r.binding_id limit 1
    ) bound on true
    order by 1, 3
    on conflict (team_id, repo, issue_number) do update set
      opened_at = least(c.opened_at, excluded.opened_at),
      reopened = c.reopened or excluded.reopened,
      pr_number = case when c.merged_at >= excluded.merged_at or excluded.merged_at is null then c.pr_number else excluded.pr_number end,
      merged_at = greatest(c.merged_at, excluded.merged_at),
      project_id = coalesce(excluded.project_id, c.project_id),
      task_id = coalesce(excluded.task_id, c.task_id)`,
});
