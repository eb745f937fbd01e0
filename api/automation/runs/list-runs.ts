import { defineStatement, run, type Statement } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { getAutomation } from '../definitions/get-automation.js';
import { presentRun } from './present-run.js';
import type { RunView } from './record/run-record.js';
import { runsByIds, SKIPPED_AT } from './record/run-record.sql.js';
import type { ListRuns, RunSummary } from './schema.js';

/** SQL: the newest runs of automation $2 up to the end of the page, from an index of each table. */
const started = (status: string): string => /* sql */ `(
      select p.run_id, p.queued_at from automation_runs p where p.automation_id = $2 ${status}
      order by p.queued_at desc, p.run_id desc limit $3::int + $4::int)`;
const skipped = /* sql */ `(
      select s.run_id, ${SKIPPED_AT} from skipped_runs s where s.automation_id = $2
      order by ${SKIPPED_AT} desc, s.run_id desc limit $3::int + $4::int)`;

/** $1 = caller id, $2 = automation id, $3 = limit, $4 = offset; with a status: $5 = status. */
const buildPageStatement = (name: string, sources: string[]): Statement =>
  defineStatement({
    name,
    text: runsByIds(/* sql */ `array(
    select run_id from (${sources.join(' union all ')}) newest order by queued_at desc, run_id desc limit $3 offset $4)`),
  });
const statement = buildPageStatement('list_runs', [started(''), skipped]);
const statusStatement = buildPageStatement('list_runs_by_status', [started('and p.status = $5')]);
const skippedStatement = buildPageStatement('list_skipped_runs', [started('and p.status = $5'), skipped]);

/**
 * Lists the runs of one automation, newest first.
 * @throws RESOURCE_NOT_FOUND no such automation | PERMISSION_DENIED
 */
export async function listRuns(ctx: Context, automationId: string, { status, limit, offset }: ListRuns): Promise<RunSummary[]> {
  await getAutomation(ctx, automationId);
  const page = [requireUser(ctx), automationId, limit, offset];
  const rows = await (status == null
    ? run<RunView>(ctx.db, statement, page)
    : run<RunView>(ctx.db, status === 'skipped' ? skippedStatement : statusStatement, [...page, status]));
  return rows.map(presentRun);
}
