import { run } from '../../../../db/statement.js';
import { authorize, rolesFor } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { seatInTeam } from '../../../platform/access/seats.js';
import { cycleTrendStatement } from './cycle-trend.sql.js';

/** Times of the issues that were closed by a merge in one week, hours. */
export interface CycleWeek {
  /** Monday of the week, `2026-11-16`. */
  week: string;
  median_hours: number;
  p75_hours: number;
  sample_size: number;
}

interface SlowIssue {
  repo: string;
  issue_number: number;
  pr_number: number;
  hours: number;
  reopened: boolean;
  /** Null if the issue has no live task. */
  task_id: string | null;
  title: string | null;
}

export interface CycleTrend {
  weeks: CycleWeek[];
  slowest: SlowIssue[];
}

/**
 * Reads cycle times week by week, of all the caller's teams or of one, and the slowest issues. Weeks without a merge are absent.
 * @throws RESOURCE_NOT_FOUND unknown team | PERMISSION_DENIED of another team
 */
export async function readCycleTrend(ctx: Context, teamId: string | undefined, days: number): Promise<CycleTrend> {
  if (teamId !== undefined) authorize('cycle_time.read', await seatInTeam(ctx, teamId));
  const values = [requireUser(ctx), teamId ?? null, days, rolesFor('cycle_time.read')];
  const [row] = await run<{ json: CycleTrend }>(ctx.db, cycleTrendStatement, values);
  if (!row) throw new Error('The statement of the trend returned no row');
  return row.json;
}
