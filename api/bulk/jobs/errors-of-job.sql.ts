import type { Statement } from '../../../db/statement.js';

/** $1 = job id, $2 = number of rows. The first failed lines of a job, in their order. */
export const errorsOfJobStatement: Statement = {
  name: 'errors_of_bulk_job',
  text: /* sql */ `
    select r.line, r.entity, r.message from bulk_rows r where r.job_id = $1 and r.outcome = 'failed' order by r.line limit $2`,
};
