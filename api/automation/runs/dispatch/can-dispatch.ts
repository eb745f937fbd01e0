import { Automation } from '../../../../db/models/automation/automation.js';
import { AutomationRun } from '../../../../db/models/automation/automation-run.js';
import { isAdmitted } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { findSeat } from '../../../platform/access/seats.js';
import { findForbiddenAction } from '../../secrets/assert-actions-allowed.js';
import { canManage } from '../../definitions/policy.js';

const NEITHER = { mayCancel: false, mayReplay: false };

/**
 * Returns whether the caller can cancel or replay a run, by the same rules as those operations, so that pages offer only what
 * works.
 */
export async function canDispatch(ctx: Context, runId: string): Promise<{ mayCancel: boolean; mayReplay: boolean }> {
  if (!isAdmitted('automation.dispatch', ctx.actor)) return NEITHER;
  const run = await AutomationRun.query(ctx.db).findById(runId).select('team_id', 'creator_id', 'automation_id');
  if (!run) return NEITHER;
  const { team_id, creator_id: created_by } = run;
  const seat = team_id === null ? null : await findSeat(ctx, team_id);
  if (!canManage('automation.dispatch', { team_id, created_by }, { userId: requireUser(ctx), seat })) return NEITHER;
  const automation = await Automation.query(ctx.db).findById(run.automation_id).select('actions');
  const forbidden = await findForbiddenAction(ctx, team_id, automation?.actions ?? []);
  return { mayCancel: true, mayReplay: forbidden === undefined };
}
