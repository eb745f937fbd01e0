import { inBatches } from '../../../../db/in-batches.js';
import { run } from '../../../../db/statement.js';
import type { Services } from '../../../platform/context.js';
import { deleteOldRequestsStatement, deleteOldResultsStatement } from './settle.sql.js';

const BATCH = 500;
/** Days that arguments are kept after the end of their request. */
const KEPT_DAYS = 90;

/** Deletes what requests were answered, after a week. Safe to repeat. Returns the number. */
export const deleteOldResults = ({ db }: Pick<Services, 'db'>): Promise<number> =>
  inBatches(BATCH, async () => (await run<{ results: number }>(db, deleteOldResultsStatement, [BATCH]))[0]?.results ?? 0);

/** Deletes requests that ended 90 days ago, in batches, each with its own commit. Safe to repeat. Returns their number. */
export const deleteOldRequests = ({ db }: Pick<Services, 'db'>): Promise<number> =>
  inBatches(
    BATCH,
    async () => (await run<{ requests: number }>(db, deleteOldRequestsStatement, [KEPT_DAYS, BATCH]))[0]?.requests ?? 0,
  );
