import { fn } from 'objection';
import { Automation } from '../../../db/models/automation/automation.js';
import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { removeHookStatement } from '../hooks/remove-hook.sql.js';
import { cancelRuns } from '../runs/record/cancel-runs.js';

/** $1 = automation id. */
const lockRunsStatement = defineStatement({
  name: 'lock_runs_of_automation',
  text: 'select count(*) from (select from automation_runs where automation_id = $1 and finished_at is null for update) held',
});

const DELETED = () => ({ deleted_at: fn.now(), is_active: false });

/**
 * Marks an automation as deleted and cancels its runs, without checking permissions. The caller has locked its row. Returns the
 * number of cancelled runs.
 */
export async function deleteAutomationRow(ctx: Context, automation: Automation): Promise<number> {
  await automation.$query(ctx.db).patch(DELETED());
  return endRuns(ctx, automation);
}

/** Cancels the runs of an automation whose row is already marked as deleted. */
async function endRuns(ctx: Context, automation: Automation): Promise<number> {
  const { automation_id, team_id, project_id, name } = automation;
  // Waits for a step in progress, so that its result is visible here. A run that waits later ends itself first
  // (end-if-deleted.ts).
  await run(ctx.db, lockRunsStatement, [automation_id]);
  await run(ctx.db, removeHookStatement, [automation_id]);
  const cancelled_runs = await cancelRuns(ctx, automation, ['queued', 'paused']);
  await recordChange(ctx, {
    team_id,
    project_id,
    feature: 'automations',
    action: 'delete',
    severity: 'MEDIUM',
    entity_type: 'automation',
    entity_id: automation_id,
    title: name,
    summary: 'deleted the automation',
    details: { name, cancelled_runs },
  });
  return cancelled_runs;
}

/** Deletes all automations of a deleted project or team and returns their number. */
export async function endAutomationsIn(ctx: Context, scope: { project_id: string } | { team_id: string }): Promise<number> {
  const automations = await Automation.query(ctx.db).where(scope).modify('live').orderBy('automation_id').forNoKeyUpdate();
  // One statement, so that the team's event subscriptions are recomputed once instead of for each automation.
  await Automation.query(ctx.db).where(scope).modify('live').patch(DELETED());
  for (const automation of automations) await endRuns(ctx, automation);
  return automations.length;
}
