import type { Services } from '../core/context.js';

const BATCH = 500;

/**
 * Runs that ended so long ago: those that did nothing sooner than the others. Their actions, gates and effects go with them; the
 * audit log keeps what they did. One that others replayed, or that replays one which stays, only loses the tie.
 */
const FORGET = /* sql */ `
  delete from automation_runs where run_id in (
    select run_id from automation_runs
    where finished_at < now() - make_interval(days => case when status = 'skipped' then ?::int else ?::int end) limit ${BATCH})`;

/** Forgets old runs, in batches; may be repeated. Returns how many (decision L: 7 and 90 days). */
export async function deleteExpiredRuns({ db, config }: Pick<Services, 'db' | 'config'>): Promise<number> {
  const days = [config.RUN_HISTORY_SKIPPED_DAYS, config.RUN_HISTORY_DAYS];
  for (let total = 0; ; ) {
    const { rowCount } = await db.raw<{ rowCount: number }>(FORGET, days);
    total += rowCount;
    if (rowCount < BATCH) return total;
  }
}
