import type { Automation } from '../../../db/models/automation/automation.js';
import type { Context } from '../../platform/context.js';
import { recordChange } from '../../platform/changes/record-change.js';

const SUMMARIES = {
  create: 'made an address that starts the automation',
  rotate: 'replaced the address that starts the automation',
  revoke: 'removed the address that starts the automation',
} as const;

/** Records a change of the address of an automation. The entry never holds the token. */
export const recordHookChange = (ctx: Context, automation: Automation, action: keyof typeof SUMMARIES): Promise<string> =>
  recordChange(ctx, {
    team_id: automation.team_id,
    project_id: automation.project_id,
    feature: 'automations',
    // `create` of an automation means another thing.
    action: action === 'create' ? 'rotate' : action,
    severity: 'HIGH',
    entity_type: 'automation',
    entity_id: automation.automation_id,
    title: automation.name,
    summary: SUMMARIES[action],
    details: { part: 'address', replaced: action === 'rotate' },
  });
