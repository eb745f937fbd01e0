import { raw } from 'objection';
import { Automation } from '../../db/models/automation.js';
import { AutomationRun } from '../../db/models/automation-run.js';
import type { Context } from '../core/context.js';
import { enqueue } from '../core/outbox.js';
import { recordChange } from '../core/record-change.js';

/**
 * Cancels what waits: nothing of an automation happens after its deletion. A run at work finishes. Whoever decides a gate
 * at this moment comes first or finds the run cancelled, because both change the run's row. Returns the number of runs.
 */
async function cancelWaitingRuns(ctx: Context, automationId: string): Promise<number> {
  const runs = await AutomationRun.query(ctx.db)
    .where({ automation_id: automationId })
    .whereIn('status', ['queued', 'paused'])
    .patch({ status: 'cancelled', finished_at: raw('now()') })
    .returning(['run_id', 'incarnation', 'claimed_by']);
  await ctx
    .db('run_actions')
    // One array, not one parameter a run: a statement takes 65,535 of them.
    .whereRaw('run_id = any(?)', [runs.map(({ run_id }) => run_id)])
    .whereIn('status', ['pending', 'running', 'staged'])
    .update({ status: 'skipped' });
  for (const { run_id, incarnation, claimed_by } of runs) {
    // Without a claim there is no workflow; one that starts later finds nothing to claim.
    if (claimed_by !== null) await enqueue(ctx, 'run.wake', run_id, { run_id, incarnation });
  }
  return runs.length;
}

/**
 * What deleting an automation means, wherever the right to do it comes from. The caller holds its row. Returns the number of runs
 * that were cancelled.
 */
export async function endAutomation(ctx: Context, automation: Automation): Promise<number> {
  const { automation_id, team_id, project_id, name } = automation;
  await automation.$query(ctx.db).patch({ deleted_at: raw('now()'), is_active: false });
  const cancelled_runs = await cancelWaitingRuns(ctx, automation_id);
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

/** Ends every automation of a project or of a team that goes for good. Returns how many there were. */
export async function endAutomationsOf(ctx: Context, place: { project_id: string } | { team_id: string }): Promise<number> {
  const automations = await Automation.query(ctx.db).where(place).modify('live').orderBy('automation_id').forUpdate();
  for (const automation of automations) await endAutomation(ctx, automation);
  return automations.length;
}
