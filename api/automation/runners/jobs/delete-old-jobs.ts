import type { Services } from '../../../platform/context.js';
import { inBatches } from '../../../../db/in-batches.js';
import { run } from '../../../../db/statement.js';
import { deleteOldJobsStatement } from './delete-old-jobs.sql.js';

/** Most jobs in one statement, and most blocks of their logs (50 MB): it has ten seconds. */
const BATCH = 500;
const BATCH_BLOCKS = 3_200;

/** Deletes jobs with their logs as long after their end as runs. Returns their number. May be repeated. */
export const deleteOldJobs = ({ db, config }: Services): Promise<number> =>
  // Large logs make a batch of few jobs, so only an empty one is the last.
  inBatches(1, async () => (await run(db, deleteOldJobsStatement, [config.RUN_HISTORY_DAYS, BATCH, BATCH_BLOCKS])).length);
