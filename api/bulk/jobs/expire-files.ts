import { inBatches } from '../../../db/in-batches.js';
import { run } from '../../../db/statement.js';
import type { Services } from '../../platform/context.js';
import { fileStore } from '../../work/items/files/store/file-store.js';
import { deleteOldJobsStatement, deleteOldRowsStatement, takeExpiredStatement } from './expiry.sql.js';

const BATCH = 100;
/** Rows of jobs in one transaction: a job has up to millions, which no statement deletes within its time. */
const ROWS_PER_BATCH = 10_000;
/** Jobs have up to fifty thousand chunks each. */
const JOBS_PER_BATCH = 10;

/**
 * Removes files of exports and uploads after their time, and deletes jobs that ended long ago. May be repeated: an object that a crash leaves
 * has no row any more and is swept with those of purged files. Returns both numbers.
 */
export async function expireFiles({ db, config }: Pick<Services, 'db' | 'config'>): Promise<{ files: number; jobs: number }> {
  const store = fileStore(config);
  const files = await inBatches(BATCH, async () => {
    const rows = await run<{ object_key: string }>(db, takeExpiredStatement, [BATCH]);
    for (const { object_key } of rows) await store.remove(object_key);
    return rows.length;
  });
  await inBatches(ROWS_PER_BATCH, async () => {
    return (await run(db, deleteOldRowsStatement, [config.BULK_HISTORY_DAYS, ROWS_PER_BATCH])).length;
  });
  const jobs = await inBatches(JOBS_PER_BATCH, async () => {
    const values = [config.BULK_HISTORY_DAYS, JOBS_PER_BATCH];
    return (await run(db, deleteOldJobsStatement, values)).length;
  });
  return { files, jobs };
}
