import type { AuditAction } from '../../platform/changes/audit-actions.js';
import type { Context } from '../../platform/context.js';
import { recordChange } from '../../platform/changes/record-change.js';
import type { Webhook } from '../../../db/models/webhook.js';

/**
 * Records a change of an endpoint; not in the activity feed, which guests can read. Of the address only the host is kept: its path is
 * often a credential of the receiver.
 */
export const recordWebhookChange = (
  ctx: Context,
  { team_id, webhook_id, url }: Pick<Webhook, 'team_id' | 'webhook_id' | 'url'>,
  action: AuditAction,
  details: Record<string, unknown> = {},
): Promise<string> =>
  recordChange(ctx, {
    team_id,
    feature: 'webhooks',
    action,
    // A delivery, a new address or a new secret sends the team's data to its receiver.
    severity: ['execute', 'retry'].includes(action) ? 'LOW' : 'HIGH',
    entity_type: 'webhook',
    entity_id: webhook_id,
    details: { host: new URL(url).host, ...details },
  });
