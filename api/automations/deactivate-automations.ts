import { Automation } from '../../db/models/automation.js';
import type { Context } from '../core/context.js';
import { recordChange } from '../core/record-change.js';

/** Switches an automation off, and says why. The caller holds its row. */
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

/**
 * Switches off every automation that a person made, wherever it is; a manager may switch one on again, but nothing runs in the name
 * of somebody who has gone. Returns how many were on.
 * Source: decision A11.
 */
export async function deactivateAutomationsOf(ctx: Context, creatorId: string, disabledReason: string): Promise<number> {
  const automations = await Automation.query(ctx.db)
    .where({ created_by: creatorId, is_active: true })
    .modify('live')
    .orderBy('automation_id')
    .forNoKeyUpdate();
  const summary = 'switched the automation off: its creator has left';
  for (const automation of automations) await deactivate(ctx, automation, disabledReason, summary);
  return automations.length;
}
