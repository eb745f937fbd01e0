import type { Automation } from '../../../../db/models/automation/automation.js';
import { Project } from '../../../../db/models/project.js';
import { User } from '../../../../db/models/identity/user.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { assertActionsAllowed } from '../../secrets/assert-actions-allowed.js';
import { compileCondition } from '../../language/condition.js';
import { conditionScope } from '../../language/condition-scope.js';
import { createRun, type NewRun } from '../record/create-run.js';
import { lockAutomation } from '../../definitions/lock-automation.js';
import type { Dispatched, ExecuteAutomation } from './schema.js';
import { newId } from '../../../platform/ids.js';

/** Builds the run's `event`: the caller's fields, with actor, time and scope set by the server. */
function buildEvent(
  ctx: Context,
  automation: Pick<Automation, 'team_id' | 'project_id'>,
  input: ExecuteAutomation['event'],
  now: Date,
): Record<string, unknown> {
  return {
    type: 'manual',
    ...input,
    event_id: ctx.requestId,
    occurred_at: now.toISOString(),
    team_id: automation.team_id,
    project_id: automation.project_id ?? input?.['project_id'] ?? null,
    actor_id: requireUser(ctx),
  };
}

/** Returns how the condition of an automation judges events as a start by the caller would. */
async function readJudge(ctx: Context, { condition, project_id }: Pick<Automation, 'condition' | 'project_id'>, now: Date) {
  if (condition === null) return () => ({ matched: true, error: null });
  const project =
    project_id === null
      ? null
      : ((await Project.query(ctx.db).findById(project_id).select('project_id', 'name', 'status')) ?? null);
  const actor = (await User.query(ctx.db).findById(requireUser(ctx)).select('user_id', 'name', 'email')) ?? null;
  const { evaluate } = compileCondition(condition);
  return (event: Record<string, unknown>) => evaluate(conditionScope(event, { project, actor, now }));
}

/** The condition applies to manual runs too. */
async function evaluateAutomation(ctx: Context, automation: Automation, event: Record<string, unknown>, now: Date) {
  const { matched, error } = (await readJudge(ctx, automation, now))(event);
  return { skip_reason: matched ? null : ('condition_false' as const), ...(error !== null && { condition_error: error }) };
}

/** Returns the first of some events that the condition of an automation holds for, as it would if the caller started it now. */
export async function findMatching<T extends { event: Record<string, unknown> }>(
  ctx: Context,
  automation: Pick<Automation, 'condition' | 'project_id' | 'team_id'>,
  events: readonly T[],
): Promise<T | undefined> {
  const now = new Date();
  const judge = await readJudge(ctx, automation, now);
  return events.find(({ event }) => judge(buildEvent(ctx, automation, event, now)).matched);
}

/**
 * Starts an automation manually, enabled or not. `isTest` performs a dry run, which only records what the actions would have
 * done.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED neither the creator nor a manager, or a secret that only admins may use |
 * RESOURCE_CONFLICT stale version
 */
export function executeAutomation(
  ctx: Context,
  automationId: string,
  { event: input, version: seenVersion }: ExecuteAutomation,
  isTest: boolean,
): Promise<Dispatched> {
  return inTransaction(ctx, async (ctx) => {
    const automation = await lockAutomation(ctx, 'automation.dispatch', automationId, seenVersion);
    await assertActionsAllowed(ctx, automation.team_id, automation.actions);
    const now = new Date();
    const event = buildEvent(ctx, automation, input, now);
    const verdict: Pick<NewRun, 'skip_reason' | 'condition_error'> = await evaluateAutomation(ctx, automation, event, now);
    const run_id = newId();
    const triggered_by = requireUser(ctx);
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
      summary: `${isTest ? 'tested' : 'started'} ${name} manually`,
      details: { automation_id: automationId, automation_version: version, is_test: isTest },
    });
    return { run_id, automation_id: automationId, status: verdict.skip_reason ? 'skipped' : 'queued' };
  });
}
