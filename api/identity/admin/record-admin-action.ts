import type { AuditAction } from '../../platform/changes/audit-actions.js';
import type { Context } from '../../platform/context.js';
import { recordChange } from '../../platform/changes/record-change.js';

/** Records an administrator's action on a user: always HIGH, in the chain of the installation. */
export const recordAdminAction = (
  ctx: Context,
  action: AuditAction,
  userId: string,
  details: Record<string, unknown>,
): Promise<string> =>
  recordChange(ctx, {
    team_id: null,
    feature: 'admin',
    action,
    severity: 'HIGH',
    entity_type: 'user',
    entity_id: userId,
    details,
  });
