import type { AuditAction } from '../core/audit-actions.js';
import type { Context } from '../core/context.js';
import { recordChange } from '../core/record-change.js';

/** What an administrator did to somebody: always HIGH, in the installation's own chain (A11). */
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
