import type { Context } from '../core/context.js';
import { recordChange } from '../core/record-change.js';

/** What a person did with a connection of theirs: it belongs to no team. HIGH, because it opens another system (M). */
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
