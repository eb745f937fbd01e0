import { raw } from 'objection';
import { Automation } from '../../db/models/automation.js';
import type { Context } from '../core/context.js';
import { recordChange } from '../core/record-change.js';
import { cancelRuns } from '../runs/cancel-runs.js';

const HOLD_RUNS = /* sql */ `
  select count(*) from (select from automation_runs where automation_id = ? and finished_at is null for update) held`;

const DELETED = () => ({ deleted_at: raw('now()'), is_active: false });

/**
 * What deleting an automation means, wherever the right to do it comes from. The caller holds its row. Returns the number of runs
 * that were cancelled.
 */
export async function deleteAutomationRow(ctx: Context, automation: Automation): Promise<number> {
  await automation.$query(ctx.db).patch(DELETED());
  return endRunsOf(ctx, automation);
}

/** What is left to do once the automation's row says that it is deleted. */
async function endRunsOf(ctx: Context, automation: Automation): Promise<number> {
  const { automation_id, team_id, project_id, name } = automation;
  // Nothing waits for a deleted automation: a step that is just being done is waited for, so that what it left is seen, and whatever
  // comes later ends before it could wait (run/end-if-deleted.ts).
  await ctx.db.raw(HOLD_RUNS, [automation_id]);
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

/** Ends every automation of a project or of a team that goes for good. Returns how many there were. */
export async function endAutomationsOf(ctx: Context, place: { project_id: string } | { team_id: string }): Promise<number> {
  const automations = await Automation.query(ctx.db).where(place).modify('live').orderBy('automation_id').forNoKeyUpdate();
  // In one statement: what the team subscribes to is worked out once, not for each of a thousand.
  await Automation.query(ctx.db).where(place).modify('live').patch(DELETED());
  for (const automation of automations) await endRunsOf(ctx, automation);
  return automations.length;
}
