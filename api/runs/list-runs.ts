import { run, type Statement } from '../../db/statement.js';
import { type Context, userOf } from '../core/context.js';
import { getAutomation } from '../automations/get-automation.js';
import { presentRun } from './present-run.js';
import type { RunView } from './record/run-record.js';
import { SELECT_RUNS } from './record/run-record.sql.js';
import type { ListRuns, RunSummary } from './schema.js';

/**
 * $1 = caller id, $2 = automation id, $3 = limit, $4 = offset; with `status`: $5 = status. Pages through an index, so skipped
 * runs are not read.
 */
const pageOf = (name: string, status: string): Statement => ({
  name,
  text: /* sql */ `${SELECT_RUNS}
    where r.run_id = any(array(
      select p.run_id from automation_runs p where p.automation_id = $2 ${status}
      order by p.queued_at desc, p.run_id desc limit $3 offset $4))
    order by r.queued_at desc, r.run_id desc`,
});
const statement = pageOf('list_runs', '');
const statusStatement = pageOf('list_runs_by_status', 'and p.status = $5');

/**
 * Lists the runs of one automation, newest first.
 * @throws RESOURCE_NOT_FOUND no such automation | PERMISSION_DENIED
 */
export async function listRuns(ctx: Context, automationId: string, { status, limit, offset }: ListRuns): Promise<RunSummary[]> {
  await getAutomation(ctx, automationId);
  const page = [userOf(ctx), automationId, limit, offset];
  const rows = await (status == null
    ? run<RunView>(ctx.db, statement, page)
    : run<RunView>(ctx.db, statusStatement, [...page, status]));
  return rows.map(presentRun);
}
