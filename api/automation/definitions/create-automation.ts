import { Automation } from '../../../db/models/automation/automation.js';
import { defineStatement, run } from '../../../db/statement.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { invalid } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { assertActionsAllowed } from '../secrets/assert-actions-allowed.js';
import { checkDefinition } from './check-definition.js';
import { checkStages } from './check-stages.js';
import { resolveScope } from './resolve-scope.js';
import { getAutomation } from './get-automation.js';
import { lockActiveCaller } from './ownership/present-creator.js';
import { checkProtection } from './ownership/protection.js';
import { peopleOfCaller } from '../../platform/access/people-of-caller.js';
import type { CreateAutomation, SavedAutomation } from './schema.js';
import { storeVersion } from './versions/create-version.js';
import { findWarnings } from './warnings.js';

/** Maximum number of automations per team, or per user for personal ones (docs/decisions/automation.md#automation-limits). */
const MAX_AUTOMATIONS = 1000;

/** $1 = id of a team or a user. */
const lockLimitStatement = defineStatement({
  name: 'lock_automation_limit',
  text: "select pg_advisory_xact_lock(hashtextextended('automations of ' || $1::text, 0))",
});

/**
 * Serializes concurrent creations by an advisory lock of their own. A row lock on the team would conflict with ending a
 * membership, which locks the team first.
 * @throws INVALID_REQUEST
 */
async function checkLimit(ctx: Context, teamId: string | null): Promise<void> {
  const userId = requireUser(ctx);
  await run(ctx.db, lockLimitStatement, [teamId ?? userId]);
  const mine = teamId === null ? { team_id: null, created_by: userId } : { team_id: teamId };
  const count = await Automation.query(ctx.db).where(mine).modify('live').resultSize();
  if (count >= MAX_AUTOMATIONS) throw invalid(`A team can have at most ${MAX_AUTOMATIONS} automations`);
}

/**
 * Creates an automation in a team, in a project, or for the caller alone. `automation_id` is chosen by imports only.
 * @throws RESOURCE_NOT_FOUND team or project | PERMISSION_DENIED non-member or guest; protected, or a secret that only admins may
 * use, below admin | INVALID_REQUEST trigger, condition, action, stage, time zone, scope, or too many automations
 */
export function createAutomation(ctx: Context, input: CreateAutomation, automation_id = newId()): Promise<SavedAutomation> {
  return inTransaction(ctx, async (ctx) => {
    const userId = requireUser(ctx);
    await lockActiveCaller(ctx);
    const scope = await resolveScope(ctx, { team_id: input.team_id ?? null, project_id: input.project_id ?? null });
    const { condition, actions, ...schedule } = checkDefinition({
      trigger_type: input.trigger_type,
      condition: input.condition ?? null,
      actions: input.actions ?? [],
      schedule_cron: input.schedule_cron ?? null,
      schedule_timezone: input.schedule_timezone ?? 'UTC',
      team_id: scope.team_id,
    });
    await assertActionsAllowed(ctx, scope.team_id, actions);
    await checkStages(ctx, scope.team_id, actions);
    const is_protected = input.is_protected ?? false;
    const is_active = input.is_active ?? true;
    await checkProtection(ctx, { team_id: scope.team_id, is_protected: false }, is_protected);
    await checkLimit(ctx, scope.team_id);
    const automation = await Automation.query(ctx.db)
      .insert({
        automation_id,
        ...scope,
        name: input.name,
        description: input.description ?? null,
        trigger_type: input.trigger_type,
        condition,
        actions,
        is_active,
        enabled_by: is_active ? await peopleOfCaller(ctx) : [],
        ...schedule,
        is_protected,
        created_by: userId,
        updated_by: userId,
      })
      .returning('*');
    await storeVersion(ctx, automation, null);
    await recordChange(ctx, {
      ...scope,
      feature: 'automations',
      action: 'create',
      severity: 'MEDIUM',
      entity_type: 'automation',
      entity_id: automation.automation_id,
      title: automation.name,
      summary: 'created the automation',
      details: {
        name: automation.name,
        trigger_type: automation.trigger_type,
        actions: actions.map(({ type }) => type),
        is_protected,
      },
    });
    return { ...(await getAutomation(ctx, automation.automation_id)), warnings: await findWarnings(ctx, automation) };
  });
}
