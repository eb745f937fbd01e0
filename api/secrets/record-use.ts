import type { Context } from '../core/context.js';
import { recordChange } from '../core/record-change.js';

/** What was done to a secret: always HIGH, by its name, never with a value; not in the activity feed, which guests read (M). */
export const recordUse = (
  ctx: Context,
  teamId: string,
  name: string,
  action: 'create' | 'update' | 'delete',
  details: Record<string, unknown> = {},
): Promise<string> =>
  recordChange(ctx, {
    team_id: teamId,
    feature: 'secrets',
    action,
    severity: 'HIGH',
    entity_type: 'secret',
    entity_id: name,
    details: { name, ...details },
  });
