import type { Services } from '../../../platform/context.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { newId } from '../../../platform/ids.js';

/** Records a burst in the instance's audit chain: a sender is guessing secrets, or the code host uses an old one. */
export async function recordSignatureBurst(services: Services, failures: number): Promise<void> {
  const requestId = newId();
  const actor = { type: 'system', name: 'forge' } as const;
  await recordChange(
    { ...services, actor, requestId, correlationId: requestId, ip: null, userAgent: null },
    {
      team_id: null,
      feature: 'forge',
      action: 'deny',
      severity: 'CRITICAL',
      outcome: 'denied',
      entity_type: 'forge_webhook',
      entity_id: null,
      details: { signature_failures: failures, within_seconds: 60 },
    },
  );
}
