import type { Automation } from '../../../db/models/automation/automation.js';
import type { Context } from '../../platform/context.js';
import { recordChange } from '../../platform/changes/record-change.js';

/** Disables an automation and stores the reason. The caller has locked its row. */
export async function deactivate(ctx: Context, automation: Automation, disabledReason: string, summary: string): Promise<void> {
  await automation.$query(ctx.db).patch({ is_active: false, disabled_reason: disabledReason });
  await recordChange(ctx, {
    team_id: automation.team_id,
    project_id: automation.project_id,
    feature: 'automations',
    action: 'toggle',
    severity: 'MEDIUM',
    entity_type: 'automation',
    entity_id: automation.automation_id,
    title: automation.name,
    summary,
    details: { disabled_reason: disabledReason, creator_id: automation.created_by },
  });
}
