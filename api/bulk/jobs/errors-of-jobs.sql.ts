import { defineStatement } from '../../../db/statement.js';

/** $1 = job ids, $2 = number of lines. The first failed lines of each job, in their order; no row for a job without. */
export const errorsOfJobsStatement = defineStatement({
  name: 'errors_of_bulk_jobs',
  text: /* sql */ `
    select j.job_id, r.errors from unnest($1::uuid[]) as j(job_id) cross join lateral (
      select json_agg(json_build_object('line', l.line, 'entity', l.entity, 'message', coalesce(l.message, '')) order by l.line) as errors
      from (
        select line, entity, message from bulk_rows where job_id = j.job_id and outcome = 'failed' order by line limit $2
      ) l
    ) r where r.errors is not null`,
});
