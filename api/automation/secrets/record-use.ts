import type { Context } from '../../platform/context.js';
import { recordChange } from '../../platform/changes/record-change.js';

/**
 * Records the use of a secret by name, never its value; not in the activity feed, which guests can read. Severity HIGH for a
 * change, LOW for a use by an action (`read`).
 */
export const recordUse = (
  ctx: Context,
  teamId: string,
  name: string,
  action: 'create' | 'read' | 'update' | 'delete',
  details: Record<string, unknown> = {},
): Promise<string> =>
  recordChange(ctx, {
    team_id: teamId,
    feature: 'secrets',
    action,
    severity: action === 'read' ? 'LOW' : 'HIGH',
    entity_type: 'secret',
    entity_id: name,
    details: { name, ...details },
  });
