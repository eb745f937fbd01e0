import { fn } from 'objection';
import type { Automation } from '../../../db/models/automation/automation.js';
import { type Context, requireUser } from '../../platform/context.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { dropAddress } from '../hooks/remove-address.js';
import { enablersAfter } from './schedule/enabled-by.js';
import { storeVersion } from './versions/create-version.js';

interface VersionNote {
  change_note: string | null;
  restored_from?: number;
  /** The caller sent no actions: the previous version's actions remain. */
  keeps_actions?: boolean;
  trace: { action: 'update' | 'rollback' | 'change_owner'; summary: string; details: Record<string, unknown> };
}

/** Saves a definition as the next version, with audit entry and activity line. The caller has locked its row. */
export async function saveDefinition(
  ctx: Context,
  before: Automation,
  fields: Partial<Automation>,
  { change_note, restored_from, keeps_actions, trace }: VersionNote,
): Promise<Automation> {
  // Read now: saving gives the row that was read the new values too.
  const wasCalled = before.trigger_type === 'webhook';
  const after = await before.$query(ctx.db).patchAndFetch({
    ...fields,
    ...(await enablersAfter(ctx, before, fields)),
    version: before.version + 1,
    updated_by: requireUser(ctx),
    updated_at: fn.now(),
  });
  // Or an old address would start the automation again once it has this trigger again.
  if (wasCalled && after.trigger_type !== 'webhook') await dropAddress(ctx, after);
  await storeVersion(ctx, after, change_note, restored_from ?? null, keeps_actions);
  await recordChange(ctx, {
    team_id: after.team_id,
    project_id: after.project_id,
    feature: 'automations',
    action: trace.action,
    severity: 'MEDIUM',
    entity_type: 'automation',
    entity_id: after.automation_id,
    title: after.name,
    summary: trace.summary,
    details: { version: after.version, is_active: after.is_active, ...trace.details },
  });
  return after;
}
