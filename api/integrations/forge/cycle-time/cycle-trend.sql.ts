import { defineStatement } from '../../../../db/statement.js';
import { samplesSql } from './samples.sql.js';

/** Issues named as the slowest. */
const SLOWEST = 8;

/**
 * $1 = caller id, $2 = team id or null, $3 = days, $4 = roles that may read. Returns one JSON object: for each week (from Monday, UTC) its median,
 * 75th percentile and number of issues, and the slowest issues. An issue of two of the caller's teams counts once.
 */
export const cycleTrendStatement = defineStatement({
  name: 'cycle_trend',
  text: /* sql */ `
with ${samplesSql()}, weeks as (
  select date_trunc('week', merged_at at time zone 'utc')::date as week,
    (percentile_disc(0.5) within group (order by hours))::float8 as median_hours,
    (percentile_disc(0.75) within group (order by hours))::float8 as p75_hours, count(*)::int as sample_size
  from samples group by 1
), slowest as (
  select s.repo, s.issue_number, s.pr_number, s.hours::float8 as hours, s.reopened, task.task_id, task.title
  from (select * from samples order by hours desc, repo, issue_number limit ${SLOWEST}) s
  left join lateral (select t.task_id, t.title from tasks t where t.task_id = s.task_id and t.deleted_at is null) task on true
  order by s.hours desc, s.repo, s.issue_number
)
select json_build_object('weeks', coalesce((select json_agg(w order by w.week) from weeks w), '[]'),
  'slowest', coalesce((select json_agg(s) from slowest s), '[]')) as json`,
});
