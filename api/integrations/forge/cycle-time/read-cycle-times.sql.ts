import { defineStatement } from '../../../../db/statement.js';
import { samplesSql } from './samples.sql.js';

/** Maximum samples in one response, newest first. */
const MAX_SAMPLES = 500;

const STATISTICS = /* sql */ `round(percentile_disc(0.5) within group (order by hours)::numeric, 2)::float8 as median_hours,
    round(percentile_disc(0.75) within group (order by hours)::numeric, 2)::float8 as p75_hours, count(*)::int as sample_size`;
const TIME = (column: string): string => `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * $1 = caller id, $2 = team id or null, $3 = days, $4 = roles that may read, $5 = project id or null. Returns one JSON object. An issue of two
 * of the caller's teams counts once, except by project. Projects and tasks in the trash are not named.
 */
export const cycleTimesStatement = defineStatement({
  name: 'cycle_times',
  text: /* sql */ `
with ${samplesSql('($5::uuid is null or t.project_id = $5)')}, by_repo as (
  select repo, ${STATISTICS} from samples group by repo
), by_project as (
  select p.project_id, p.name as project_name, ${STATISTICS}
  from merged h join projects p on p.project_id = h.project_id and p.deleted_at is null group by p.project_id
), newest as (
  select * from samples order by merged_at desc, repo, issue_number limit ${MAX_SAMPLES}
), shown as (
  select n.repo, n.issue_number, n.pr_number, p.project_id, t.task_id, ${TIME('n.opened_at')} as opened_at, ${TIME('n.merged_at')} as merged_at,
    round(n.hours::numeric, 2)::float8 as hours, n.reopened
  from newest n
  left join lateral (select p.project_id from projects p where p.project_id = n.project_id and p.deleted_at is null) p on true
  left join lateral (select t.task_id from tasks t where t.task_id = n.task_id and t.deleted_at is null) t on true
  order by n.merged_at desc, n.repo, n.issue_number
)
select json_build_object('window_days', $3::int, 'sample_size', (select count(*) from samples),
  'by_repo', coalesce((select json_agg(r order by r.repo) from by_repo r), '[]'),
  'by_project', coalesce((select json_agg(p order by p.project_name, p.project_id) from by_project p), '[]'),
  'samples', coalesce((select json_agg(s) from shown s), '[]')) as json`,
});
