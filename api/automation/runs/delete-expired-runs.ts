import { inBatches } from '../../../db/in-batches.js';
import { deleteReleasedVersions, type ReleasedVersions } from '../definitions/versions/delete-old-versions.js';
import { run } from '../../../db/statement.js';
import type { Services } from '../../platform/context.js';
import { BATCH, deleteExpiredRunsStatement } from './delete-expired-runs.sql.js';

/** A UUIDv7 begins with its time: the primary key finds what is expired. */
const DELETE_SKIPPED = /* sql */ `
  delete from skipped_runs where run_id in (
    select run_id from skipped_runs where run_id < uuid_at(now() - make_interval(days => ?::int)) limit ${BATCH})`;

/** Counts of hours that are over; the day before stays, for a look at what happened. */
const DELETE_BUDGETS = /* sql */ `
  delete from skipped_run_budgets where (hour, owner_id) in (
    select hour, owner_id from skipped_run_budgets where hour < now() - interval '2 days' limit ${BATCH})`;

/** Deletes expired runs in batches, and versions that only they kept; may be repeated. Returns their number (docs/decisions.md#run-retention). */
export async function deleteExpiredRuns(services: Pick<Services, 'db' | 'config'>): Promise<number> {
  const { db, config } = services;
  const deleteAll = (sql: string, days: number[]) =>
    inBatches(BATCH, async () => (await db.raw<{ rowCount: number }>(sql, days)).rowCount);
  const skippedDays = config.RUN_HISTORY_SKIPPED_DAYS;
  const runs = await inBatches(BATCH, async () => {
    const rows = await run<ReleasedVersions & { runs: number }>(db, deleteExpiredRunsStatement, [
      skippedDays,
      config.RUN_HISTORY_DAYS,
    ]);
    await deleteReleasedVersions(
      services,
      rows.filter(({ versions }) => versions.length > 0),
    );
    return rows.reduce((sum, each) => sum + each.runs, 0);
  });
  const skipped = await deleteAll(DELETE_SKIPPED, [skippedDays]);
  await deleteAll(DELETE_BUDGETS, []);
  return runs + skipped;
}
