import { inBatches } from '../../db/in-batches.js';
import type { Services } from '../core/context.js';

const BATCH = 1_000;

/**
 * Selects expired runs; skipped ones expire sooner. Their actions, gates and effects are deleted with them; the audit log
 * remains. Replays and replayed runs that remain only lose the reference.
 */
const DELETE_EXPIRED = /* sql */ `
  delete from automation_runs where run_id in (
    select run_id from automation_runs
    where finished_at < now() - make_interval(days => case when status = 'skipped' then ?::int else ?::int end) limit ${BATCH})`;

/** A UUIDv7 begins with its time: the primary key finds what is expired. */
const DELETE_SKIPPED = /* sql */ `
  delete from skipped_runs where run_id in (
    select run_id from skipped_runs where run_id < uuid_at(now() - make_interval(days => ?::int)) limit ${BATCH})`;

/** Counts of hours that are over; the day before stays, for a look at what happened. */
const DELETE_BUDGETS = /* sql */ `
  delete from skipped_run_budgets where (hour, owner_id) in (
    select hour, owner_id from skipped_run_budgets where hour < now() - interval '2 days' limit ${BATCH})`;

/** Deletes expired runs in batches; may be repeated. Returns their number (docs/decisions.md#run-retention). */
export async function deleteExpiredRuns({ db, config }: Pick<Services, 'db' | 'config'>): Promise<number> {
  const deleteAll = (sql: string, days: number[]) =>
    inBatches(BATCH, async () => (await db.raw<{ rowCount: number }>(sql, days)).rowCount);
  const skippedDays = config.RUN_HISTORY_SKIPPED_DAYS;
  const runs = await deleteAll(DELETE_EXPIRED, [skippedDays, config.RUN_HISTORY_DAYS]);
  const skipped = await deleteAll(DELETE_SKIPPED, [skippedDays]);
  await deleteAll(DELETE_BUDGETS, []);
  return runs + skipped;
}
