import { defineStatement, run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { authorizeAccess } from '../definitions/policy.js';
import { presentRun } from './present-run.js';
import type { RunView } from './record/run-record.js';
import { runsByIds } from './record/run-record.sql.js';
import type { RunRecord } from './schema.js';

/** $1 = caller id, $2 = run id. */
const statement = defineStatement({ name: 'get_run', text: runsByIds('array[$2::uuid]') });
const eventStatement = defineStatement({ name: 'get_run_event', text: 'select event from automation_runs where run_id = $1' });

/**
 * Returns one run with the event that started it; the event of a skipped run is empty. It stays readable after its automation is deleted.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED a non-member, or a run of another user's personal automation
 */
export async function getRun(ctx: Context, runId: string): Promise<RunRecord> {
  const userId = requireUser(ctx);
  const [row] = await run<RunView>(ctx.db, statement, [userId, runId]);
  if (!row) throw notFound('Run');
  authorizeAccess('automation.read', { team_id: row.team_id, created_by: row.creator_id }, { userId, seat: row.seat });
  const [stored] = await run<{ event: Record<string, unknown> }>(ctx.db, eventStatement, [runId]);
  return { ...presentRun(row), event: stored?.event ?? {} };
}
