import type { Context } from '../core/context.js';
import { recordChange } from '../core/record-change.js';

/**
 * Records what was done to a secret, by its name, never with a value; not in the activity feed, which guests read. A change is HIGH, a
 * use by an action (`read`) LOW.
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
