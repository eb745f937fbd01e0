import type { Context } from '../../platform/context.js';
import { recordChange } from '../../platform/changes/record-change.js';

/**
 * Records a user's change of a connection, which belongs to no team. Severity HIGH, because it gives access to another system.
 */
export const recordConnection = (
  ctx: Context,
  key: string,
  action: 'stage' | 'create' | 'delete',
  details: Record<string, unknown>,
): Promise<string> =>
  recordChange(ctx, {
    team_id: null,
    feature: 'forge',
    action,
    severity: action === 'stage' ? 'LOW' : 'HIGH',
    entity_type: 'integration',
    entity_id: key,
    details,
  });
