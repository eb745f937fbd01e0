import type { Statement } from '../../../db/statement.js';

/** $1 = job ids, $2 = rows of each. The first failed lines of each job, in their order. */
export const errorsOfJobsStatement: Statement = {
  name: 'errors_of_bulk_jobs',
  text: /* sql */ `
    select r.job_id, r.line, r.entity, r.message from unnest($1::uuid[]) as j(job_id) cross join lateral (
      select r.job_id, r.line, r.entity, r.message from bulk_rows r
      where r.job_id = j.job_id and r.outcome = 'failed' order by r.line limit $2
    ) r order by r.job_id, r.line`,
};
