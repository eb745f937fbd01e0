import { Automation } from '../../db/models/automation.js';
import { type Context, inTransaction, userOf } from '../core/context.js';
import { invalid } from '../core/errors.js';
import { recordChange } from '../core/record-change.js';
import { assertSecretsAllowed } from '../secrets/assert-secrets-allowed.js';
import { checkDefinition } from './check-definition.js';
import { findPlace } from './find-place.js';
import { getAutomation } from './get-automation.js';
import type { CreateAutomation, SavedAutomation } from './schema.js';
import { storeVersion } from './store-version.js';
import { warningsOf } from './warnings.js';

/** Automations of one team, or personal ones of one person (F1). */
const MAX_AUTOMATIONS = 1000;

/**
 * The owner's row is held first, so that racing creations count one after the other. NO KEY UPDATE lets everything else that
 * merely refers to the team go on.
 * @throws INVALID_REQUEST
 */
async function checkLimit(ctx: Context, teamId: string | null): Promise<void> {
  const userId = userOf(ctx);
  const owner = teamId === null ? ctx.db('users').where({ user_id: userId }) : ctx.db('teams').where({ team_id: teamId });
  await owner.forNoKeyUpdate().first();
  const mine = teamId === null ? { team_id: null, created_by: userId } : { team_id: teamId };
  const count = await Automation.query(ctx.db).where(mine).modify('live').resultSize();
  if (count >= MAX_AUTOMATIONS) throw invalid(`A team holds at most ${MAX_AUTOMATIONS} automations`);
}

/**
 * Creates an automation in a team, in a project, or for the caller alone.
 * @throws RESOURCE_NOT_FOUND team or project | PERMISSION_DENIED stranger or guest, or a secret that only admins may use
 * | INVALID_REQUEST trigger, condition, action, time zone, place, or too many automations
 * Source: contract, section 4, automations; decision F1.
 */
export function createAutomation(ctx: Context, input: CreateAutomation): Promise<SavedAutomation> {
  return inTransaction(ctx, async (ctx) => {
    const userId = userOf(ctx);
    const place = await findPlace(ctx, { team_id: input.team_id ?? null, project_id: input.project_id ?? null });
    const { condition, actions, ...schedule } = checkDefinition({
      trigger_type: input.trigger_type,
      condition: input.condition ?? null,
      actions: input.actions ?? [],
      schedule_cron: input.schedule_cron ?? null,
      schedule_timezone: input.schedule_timezone ?? 'UTC',
      team_id: place.team_id,
    });
    await assertSecretsAllowed(ctx, place.team_id, actions);
    await checkLimit(ctx, place.team_id);
    const automation = await Automation.query(ctx.db)
      .insert({
        ...place,
        name: input.name,
        description: input.description ?? null,
        trigger_type: input.trigger_type,
        condition,
        actions,
        is_active: input.is_active ?? true,
        ...schedule,
        created_by: userId,
        updated_by: userId,
      })
      .returning('*');
    await storeVersion(ctx, automation, null);
    await recordChange(ctx, {
      ...place,
      feature: 'automations',
      action: 'create',
      severity: 'MEDIUM',
      entity_type: 'automation',
      entity_id: automation.automation_id,
      title: automation.name,
      summary: 'created the automation',
      details: { name: automation.name, trigger_type: automation.trigger_type, actions: actions.map(({ type }) => type) },
    });
    return { ...(await getAutomation(ctx, automation.automation_id)), warnings: await warningsOf(ctx, automation) };
  });
}
