import { fn } from 'objection';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { assertActionsAllowed } from '../secrets/assert-actions-allowed.js';
import { cancelRuns } from '../runs/record/cancel-runs.js';
import { lockAutomation } from './lock-automation.js';
import { requirePresentCreator } from './ownership/present-creator.js';
import { enablersAfter } from './schedule/enabled-by.js';
import type { Toggled, ToggleAutomation } from './schema.js';

/**
 * Enables or disables an automation without a new version. Runs continue unless `cancel_running` is set.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED another user's automation needs a manager; a protected one, and enabling one
 * with some secrets, an admin | RESOURCE_CONFLICT stale version, or enabling while its creator may no longer act
 */
export function toggleAutomation(ctx: Context, automationId: string, input: ToggleAutomation): Promise<Toggled> {
  return inTransaction(ctx, async (ctx) => {
    const automation = await lockAutomation(ctx, 'automation.write', automationId, input.version);
    const is_active = input.is_active ?? !automation.is_active;
    // Disabling needs no permission for the secrets it uses.
    if (is_active) await assertActionsAllowed(ctx, automation.team_id, automation.actions);
    if (is_active) await requirePresentCreator(ctx, automation);
    // A manual change clears the previous reason.
    const enablers = await enablersAfter(ctx, automation, { is_active });
    const switched = { is_active, disabled_reason: null, ...enablers, updated_by: requireUser(ctx), updated_at: fn.now() };
    if (is_active !== automation.is_active || automation.disabled_reason !== null)
      await automation.$query(ctx.db).patch(switched);
    const ends = !is_active && input.cancel_running === true;
    const cancelled_runs = ends ? await cancelRuns(ctx, automation, ['queued', 'running', 'paused']) : 0;
    const { team_id, project_id, name } = automation;
    await recordChange(ctx, {
      team_id,
      project_id,
      feature: 'automations',
      action: 'toggle',
      severity: 'MEDIUM',
      entity_type: 'automation',
      entity_id: automationId,
      title: name,
      summary: `switched the automation ${is_active ? 'on' : 'off'}`,
      details: { is_active, cancelled_runs },
    });
    return { automation_id: automationId, is_active, cancelled_runs };
  });
}
