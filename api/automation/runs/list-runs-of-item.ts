import { run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import type { RunStatus } from './record/rules.js';
import { runsOfItemStatement } from './list-runs-of-item.sql.js';
import type { RunSummary } from './schema.js';

/** A run that changed an item, or was rejected before it did. */
export interface TouchingRun extends Record<string, unknown> {
  run_id: string;
  automation_name: string;
  team_id: string | null;
  trigger_type: string;
  status: RunStatus;
  skip_reason: RunSummary['skip_reason'];
  queued_at: Date;
}

/** Lists the newest runs that changed an item, commented on it or were rejected before they did, as far as the caller may read them. The caller has checked access to the item. */
export const listRunsOfItem = (ctx: Context, itemId: string, limit: number): Promise<TouchingRun[]> =>
  run<TouchingRun>(ctx.db, runsOfItemStatement, [requireUser(ctx), itemId, limit]);
