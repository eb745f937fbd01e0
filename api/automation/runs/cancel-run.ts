import { AutomationRun } from '../../../db/models/automation/automation-run.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { conflict, notFound } from '../../platform/errors.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { findSeat } from '../../platform/access/seats.js';
import { cancelRuns } from './record/cancel-runs.js';
import { authorizeManage } from '../definitions/policy.js';
import type { CancelledRun } from './dispatch/schema.js';

/**
 * Cancels a run that has not ended. Completed actions stay completed; no further action runs.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED neither the creator nor a manager | RESOURCE_CONFLICT already ended
 */
export function cancelRun(ctx: Context, runId: string): Promise<CancelledRun> {
  return inTransaction(ctx, async (ctx) => {
    const locked = await AutomationRun.query(ctx.db).findById(runId).forUpdate();
    if (!locked) throw notFound('Run');
    const { team_id, project_id, creator_id: created_by, automation_id, automation_name } = locked;
    const seat = team_id === null ? null : await findSeat(ctx, team_id);
    authorizeManage('automation.dispatch', { team_id, created_by }, { userId: requireUser(ctx), seat });
    if ((await cancelRuns(ctx, { automation_id, run_id: runId }, ['queued', 'running', 'paused'])) === 0) {
      throw conflict(`The run has already ended: ${locked.status}`);
    }
    await recordChange(ctx, {
      team_id,
      project_id,
      feature: 'automations',
      action: 'update',
      severity: 'MEDIUM',
      entity_type: 'automation_run',
      entity_id: runId,
      title: automation_name,
      summary: `cancelled a run of ${automation_name}`,
      details: { status: 'cancelled', was: locked.status, automation_id },
    });
    return { success: true, run_id: runId, status: 'cancelled' };
  });
}
