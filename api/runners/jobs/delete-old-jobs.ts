import type { Services } from '../../core/context.js';
import { inBatches } from '../../../db/in-batches.js';
import { run, type Statement } from '../../../db/statement.js';

const BATCH = 500;

/** $1 = days, $2 = row limit. Deletes jobs that ended so long ago, with their logs. */
const statement: Statement = {
  name: 'delete_old_runner_jobs',
  text: /* sql */ `
    delete from runner_jobs where job_id = any(array(
      select job_id from runner_jobs where finished_at < now() - make_interval(days => $1) order by finished_at limit $2 for update skip locked))
    returning job_id`,
};

/** Deletes jobs with their logs as long after their end as runs. Returns their number. May be repeated. */
export const deleteOldJobs = ({ db, config }: Services): Promise<number> =>
  inBatches(BATCH, async () => (await run(db, statement, [config.RUN_HISTORY_DAYS, BATCH])).length);
