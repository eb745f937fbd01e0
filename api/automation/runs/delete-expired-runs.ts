import { inBatches } from '../../../db/in-batches.js';
import { deleteReleasedVersions, type ReleasedVersions } from '../definitions/versions/delete-old-versions.js';
import { run, type Statement } from '../../../db/statement.js';
import type { Services } from '../../platform/context.js';
import { BATCH, deleteBudgetsStatement, deleteExpiredRunsStatement, deleteSkippedStatement } from './delete-expired-runs.sql.js';

/** Deletes expired runs in batches, and versions that only they kept; may be repeated. Returns their number (docs/decisions/automation.md#run-retention). */
export async function deleteExpiredRuns(services: Pick<Services, 'db' | 'config'>): Promise<number> {
  const { db, config } = services;
  const deleteAll = (statement: Statement, days: number[]) =>
    inBatches(BATCH, async () => (await run<{ rows: number }>(db, statement, days))[0]?.rows ?? 0);
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
  const skipped = await deleteAll(deleteSkippedStatement, [skippedDays]);
  await deleteAll(deleteBudgetsStatement, []);
  return runs + skipped;
}
