import { AutomationRun } from '../../db/models/automation-run.js';
import { isAdmitted } from '../core/access.js';
import { type Context, userOf } from '../core/context.js';
import { seatOf } from '../core/seats.js';
import { mayOwn } from './policy.js';

/** Whether the caller may replay or cancel a run, as the verbs judge it: what a page asks before it offers to. */
export async function mayDispatch(ctx: Context, runId: string): Promise<boolean> {
  if (!isAdmitted('automation.dispatch', ctx.actor)) return false;
  const run = await AutomationRun.query(ctx.db).findById(runId).select('team_id', 'creator_id');
  if (!run) return false;
  const { team_id, creator_id: created_by } = run;
  const seat = team_id === null ? null : await seatOf(ctx, team_id);
  return mayOwn('automation.dispatch', { team_id, created_by }, { userId: userOf(ctx), seat });
}
