import { run, type Statement } from '../../db/statement.js';
import { type Context, userOf } from '../core/context.js';
import { getAutomation } from './get-automation.js';
import { presentRun } from './present.js';
import { type RunRow, SELECT_RUNS } from './run-record.js';
import type { ListRuns, RunSummary } from './schema.js';

/** $1 caller, $2 automation, $3 status or null, $4 most rows, $5 rows to skip. */
const statement: Statement = {
  name: 'list_runs',
  text: /* sql */ `${SELECT_RUNS}
    where r.automation_id = $2 and ($3::text is null or r.status = $3)
    order by r.queued_at desc, r.run_id desc limit $4 offset $5`,
};

/**
 * Runs of one automation, newest first.
 * @throws RESOURCE_NOT_FOUND no such automation | PERMISSION_DENIED
 * Source: decision F8.
 */
export async function listRuns(ctx: Context, automationId: string, { status, limit, offset }: ListRuns): Promise<RunSummary[]> {
  await getAutomation(ctx, automationId);
  const rows = await run<RunRow>(ctx.db, statement, [userOf(ctx), automationId, status ?? null, limit, offset]);
  return rows.map(presentRun);
}
