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

/** Deletes expired runs in batches; may be repeated. Returns their number (docs/decisions.md#run-retention). */
export function deleteExpiredRuns({ db, config }: Pick<Services, 'db' | 'config'>): Promise<number> {
  const days = [config.RUN_HISTORY_SKIPPED_DAYS, config.RUN_HISTORY_DAYS];
  return inBatches(BATCH, async () => (await db.raw<{ rowCount: number }>(DELETE_EXPIRED, days)).rowCount);
}
