import { raw } from 'objection';
import { Automation } from '../../db/models/automation.js';
import { AutomationRun } from '../../db/models/automation-run.js';
import { type Context, inTransaction, userOf } from '../core/context.js';
import { notFound } from '../core/errors.js';
import { enqueue } from '../core/outbox.js';
import { recordChange } from '../core/record-change.js';
import { seatOf } from '../core/seats.js';
import { authorizeOwn } from './policy.js';

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
 * Deletes an automation for good and cancels its queued and paused runs; all its runs stay readable.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED another person's automation needs a manager
 * Source: decision F1; durability notes, 3.2.
 */
export function deleteAutomation(ctx: Context, automationId: string): Promise<{ cancelledRuns: number }> {
  return inTransaction(ctx, async (ctx) => {
    // FOR UPDATE: a run that is just being created holds the row FOR KEY SHARE, so it is seen here or never made.
    const automation = await Automation.query(ctx.db).findById(automationId).modify('live').forUpdate();
    if (!automation) throw notFound('Automation');
    const { team_id, project_id, name } = automation;
    authorizeOwn('automation.write', automation, {
      userId: userOf(ctx),
      seat: team_id === null ? null : await seatOf(ctx, team_id),
    });
    await automation.$query(ctx.db).patch({ deleted_at: raw('now()'), is_active: false });
    const cancelledRuns = await cancelWaitingRuns(ctx, automationId);
    await recordChange(ctx, {
      team_id,
      project_id,
      feature: 'automations',
      action: 'delete',
      severity: 'MEDIUM',
      entity_type: 'automation',
      entity_id: automationId,
      title: name,
      summary: 'deleted the automation',
      details: { name, cancelled_runs: cancelledRuns },
    });
    return { cancelledRuns };
  });
}
