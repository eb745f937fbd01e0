import { v7 as uuidv7 } from 'uuid';
import type { Automation } from '../../../db/models/automation.js';
import { type Context, inTransaction, userOf } from '../../core/context.js';
import { recordChange } from '../../core/record-change.js';
import { assertSecretsAllowed } from '../../secrets/assert-secrets-allowed.js';
import { evaluateCondition } from '../../automations/language/condition.js';
import { conditionScope } from '../../automations/language/condition-scope.js';
import { createRun, type NewRun } from './create-run.js';
import { lockAutomation } from '../../automations/lock-automation.js';
import type { Dispatched, ExecuteAutomation } from './schema.js';

/** What the run sees as `event`: the caller's words, but who, when and where are ours (F5). */
function eventOf(ctx: Context, automation: Automation, given: ExecuteAutomation['event'], now: Date): Record<string, unknown> {
  return {
    type: 'manual',
    ...given,
    event_id: ctx.requestId,
    occurred_at: now.toISOString(),
    team_id: automation.team_id,
    project_id: automation.project_id ?? given?.['project_id'] ?? null,
    actor_id: userOf(ctx),
  };
}

/** The condition gates the actions whoever sets them off (contract, section 2). */
async function evaluateAutomation(
  ctx: Context,
  { condition, project_id }: Automation,
  event: Record<string, unknown>,
  now: Date,
) {
  if (condition === null) return { skip_reason: null };
  const [project = null] =
    project_id === null ? [] : await ctx.db('projects').where({ project_id }).select<object[]>('project_id', 'name', 'status');
  const [actor = null] = await ctx
    .db('users')
    .where({ user_id: userOf(ctx) })
    .select<object[]>('user_id', 'name', 'email');
  const { matched, error } = evaluateCondition(condition, conditionScope(event, { project, actor, now }));
  return { skip_reason: matched ? null : ('condition_false' as const), condition_error: error };
}

/**
 * Sets an automation off by hand, active or not. `isTest`: its actions are only played through, and nothing is written but what
 * they would have done.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED neither the creator nor a manager, or a secret that only admins may use
 * Source: decisions F8, F11.
 */
export function executeAutomation(
  ctx: Context,
  automationId: string,
  { event: given }: ExecuteAutomation,
  isTest: boolean,
): Promise<Dispatched> {
  return inTransaction(ctx, async (ctx) => {
    const automation = await lockAutomation(ctx, 'automation.dispatch', automationId);
    await assertSecretsAllowed(ctx, automation.team_id, automation.actions);
    const now = new Date();
    const event = eventOf(ctx, automation, given, now);
    const verdict: Pick<NewRun, 'skip_reason' | 'condition_error'> = await evaluateAutomation(ctx, automation, event, now);
    const run_id = uuidv7();
    const triggered_by = userOf(ctx);
    const run = { run_id, automation, event, trigger_type: 'manual', depth: 0, triggered_by, is_test: isTest, ...verdict };
    await createRun(ctx, run);
    const { team_id, project_id, name, version } = automation;
    await recordChange(ctx, {
      team_id,
      project_id,
      feature: 'automations',
      action: 'execute',
      severity: 'MEDIUM',
      entity_type: 'automation_run',
      entity_id: run_id,
      title: name,
      summary: `${isTest ? 'tested' : 'started'} ${name} by hand`,
      details: { automation_id: automationId, automation_version: version, is_test: isTest },
    });
    return { run_id, automation_id: automationId, status: verdict.skip_reason ? 'skipped' : 'queued' };
  });
}
