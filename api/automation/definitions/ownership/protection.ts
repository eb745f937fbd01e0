import { fn } from 'objection';
import type { Automation } from '../../../../db/models/automation/automation.js';
import { authorize } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { invalid } from '../../../platform/errors.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { findSeat } from '../../../platform/access/seats.js';

type Protectable = Pick<Automation, 'team_id' | 'is_protected'>;

/**
 * Checks a change of an automation's protection. An unchanged value needs no permission.
 * @returns whether the value changes
 * @throws PERMISSION_DENIED below admin | INVALID_REQUEST a personal automation
 */
export async function checkProtection(ctx: Context, automation: Protectable, wanted: boolean | undefined): Promise<boolean> {
  if (wanted === undefined || wanted === automation.is_protected) return false;
  if (automation.team_id === null) throw invalid('is_protected: personal automations cannot be protected');
  authorize('automation.protect', await findSeat(ctx, automation.team_id));
  return true;
}

/**
 * Sets the protection of an automation without a new version: the actions do not change, so the admin must not become their
 * author. The caller has locked its row and checked the permission (docs/decisions/automation.md#protection).
 */
export async function setProtection(ctx: Context, automation: Automation, is_protected: boolean): Promise<void> {
  const before = automation.is_protected;
  await automation.$query(ctx.db).patch({ is_protected, updated_by: requireUser(ctx), updated_at: fn.now() });
  await recordChange(ctx, {
    team_id: automation.team_id,
    project_id: automation.project_id,
    feature: 'automations',
    action: 'update',
    severity: 'MEDIUM',
    entity_type: 'automation',
    entity_id: automation.automation_id,
    title: automation.name,
    summary: is_protected ? 'protected the automation' : 'unprotected the automation',
    details: { version: automation.version, changes: { is_protected: { from: before, to: is_protected } } },
  });
}
