import { run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { cancelRunsStatement } from './cancel-runs.sql.js';
import type { RunStatus } from './rules.js';

/** Cancels runs in the caller's transaction and returns their number. */
export async function cancelRuns(
  ctx: Context,
  of: { automation_id: string; run_id?: string },
  statuses: readonly RunStatus[],
): Promise<number> {
  const values = [of.automation_id, of.run_id ?? null, statuses, ctx.correlationId];
  const [row] = await run<{ cancelled: number }>(ctx.db, cancelRunsStatement, values);
  return row?.cancelled ?? 0;
}
