import type { Automation } from '../../../db/models/automation/automation.js';
import { authorize } from '../../platform/access/access.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { invalid } from '../../platform/errors.js';
import { findSeat } from '../../platform/access/seats.js';
import { assertActionsAllowed } from '../secrets/assert-actions-allowed.js';
import { checkDefinition } from './check-definition.js';
import { checkStages } from './check-stages.js';
import { teamOfProject } from '../../work/projects/team-of-project.js';
import { getAutomation } from './get-automation.js';
import { lockAutomation } from './lock-automation.js';
import { requirePresentCreator } from './ownership/present-creator.js';
import { checkProtection, setProtection } from './ownership/protection.js';
import { saveDefinition } from './save-definition.js';
import type { ReplaceAutomation, SavedAutomation, UpdateAutomation } from './schema.js';
import { findWarnings } from './warnings.js';

/** Converts a replacement to an update: omitted fields get their defaults; the team and the protection stay. */
export const buildReplacement = (body: ReplaceAutomation): UpdateAutomation => ({
  ...body,
  description: body.description ?? null,
  condition: body.condition ?? null,
  actions: body.actions ?? [],
  is_active: body.is_active ?? true,
  schedule_cron: body.schedule_cron ?? null,
  schedule_timezone: body.schedule_timezone ?? null,
  project_id: body.project_id ?? null,
  is_protected: body.is_protected ?? undefined,
});

/**
 * @throws RESOURCE_NOT_FOUND project | INVALID_REQUEST another team, or a project of one (PERMISSION_DENIED for its non-members)
 */
async function checkPlace(ctx: Context, before: Automation, { team_id, project_id }: UpdateAutomation): Promise<void> {
  if (team_id != null && team_id !== before.team_id) throw invalid('An automation cannot move to another team');
  if (project_id == null || project_id === before.project_id) return;
  const teamId = await teamOfProject(ctx, project_id);
  if (teamId === before.team_id) return;
  authorize('automation.write', await findSeat(ctx, teamId));
  throw invalid('project_id must be a project of the automation’s team');
}

/** Fields that alone create no version. */
const UNVERSIONED: readonly (keyof UpdateAutomation)[] = ['is_protected', 'version', 'change_note'];
const changesDefinition = (input: UpdateAutomation): boolean =>
  Object.entries(input).some(([name, value]) => value !== undefined && !UNVERSIONED.includes(name as keyof UpdateAutomation));

/**
 * Returns the validated new state.
 * @throws INVALID_REQUEST
 */
function nextState(before: Automation, input: UpdateAutomation) {
  const trigger_type = input.trigger_type ?? before.trigger_type;
  const schedule_timezone = input.schedule_timezone === undefined ? before.schedule_timezone : (input.schedule_timezone ?? 'UTC');
  const { condition, actions, ...schedule } = checkDefinition({
    trigger_type,
    condition: input.condition === undefined ? before.condition : input.condition,
    actions: input.actions === undefined ? before.actions.map((action) => ({ ...action })) : (input.actions ?? []),
    schedule_cron: input.schedule_cron === undefined ? before.schedule_cron : input.schedule_cron,
    schedule_timezone,
    team_id: before.team_id,
  });
  const fields = {
    name: input.name ?? before.name,
    description: input.description === undefined ? before.description : input.description,
    trigger_type,
    condition,
    actions,
    ...schedule,
    project_id: input.project_id === undefined ? before.project_id : input.project_id,
    // A manual change clears the previous reason.
    ...(input.is_active === undefined ? {} : { is_active: input.is_active, disabled_reason: null }),
  };
  return fields;
}

async function save(ctx: Context, before: Automation, input: UpdateAutomation): Promise<Automation> {
  const fields = nextState(before, input);
  await assertActionsAllowed(ctx, before.team_id, fields.actions);
  if (input.actions !== undefined) await checkStages(ctx, before.team_id, fields.actions);
  if (fields.is_active ?? before.is_active) await requirePresentCreator(ctx, before);
  return saveDefinition(ctx, before, fields, {
    change_note: input.change_note ?? null,
    keeps_actions: input.actions === undefined,
    trace: { action: 'update', summary: 'changed the automation', details: { fields: givenFields(input) } },
  });
}

/**
 * Updates an automation as a new version; its protection alone creates none. Running runs keep their version.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED another user's automation needs a manager; a protected one, its protection, and
 * some secrets, an admin | RESOURCE_CONFLICT stale version, or enabled while its creator may no longer act | INVALID_REQUEST
 * trigger, condition, action, time zone, scope
 */
export function updateAutomation(ctx: Context, automationId: string, input: UpdateAutomation): Promise<SavedAutomation> {
  return inTransaction(ctx, async (ctx) => {
    const before = await lockAutomation(ctx, 'automation.write', automationId, input.version);
    await checkPlace(ctx, before, input);
    if (await checkProtection(ctx, before, input.is_protected)) await setProtection(ctx, before, input.is_protected === true);
    const after = input.is_protected === undefined || changesDefinition(input) ? await save(ctx, before, input) : before;
    return { ...(await getAutomation(ctx, automationId)), warnings: await findWarnings(ctx, after) };
  });
}

/** Returns the names of the fields sent; the values are in the versions. */
const givenFields = ({ version: _version, is_protected: _protected, ...fields }: UpdateAutomation): string[] =>
  Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name]));
