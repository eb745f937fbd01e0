import { run, type Statement } from '../../db/statement.js';
import { type Context, userOf } from '../core/context.js';
import { presentRun } from '../automations/present.js';
import { visibleAutomations } from '../automations/automation-record.js';
import { type RunRow, SELECT_RUNS } from './run-record.js';
import type { RunSummary } from '../automations/schema.js';

/** $1 = caller id, $2 = row limit. Reads the newest runs of each visible automation, then the newest of these. */
const statement: Statement = {
  name: 'list_recent_runs',
  text: /* sql */ `${SELECT_RUNS}
    where r.run_id = any(array(
      select newest.run_id from (${visibleAutomations('true')}) a
      cross join lateral (
        select run_id, queued_at from automation_runs r where r.automation_id = a.automation_id
        order by queued_at desc, run_id desc limit $2
      ) newest
      order by newest.queued_at desc, newest.run_id desc limit $2))
    order by r.queued_at desc, r.run_id desc`,
};

/** Lists the newest runs that the caller can see, for the home page. */
export async function listRecentRuns(ctx: Context, limit: number): Promise<RunSummary[]> {
  return (await run<RunRow>(ctx.db, statement, [userOf(ctx), limit])).map(presentRun);
}
