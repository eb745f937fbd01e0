import { writeCheckpoint } from '../api/audit/checkpoint.js';
import type { Services } from '../api/core/context.js';
import { forgetKeys } from '../api/core/idempotency-keys.js';
import { purgeReceipts } from '../api/forge/purge-receipts.js';
import { purgeExpired } from '../api/trash/purge-expired.js';
import type { Chore, ChoreActivities } from '../workflows/contract.js';

/** What each chore does, and what it says afterwards. Each may be repeated. */
export function choreActivities(services: Services): ChoreActivities {
  const chores: Record<Chore, () => Promise<string>> = {
    'audit-checkpoint': async () => `signed the heads of ${(await writeCheckpoint(services)).heads.length} chains`,
    'forge-receipts': async () => `emptied ${await purgeReceipts(services.db)} receipts`,
    'idempotency-keys': async () => `forgot ${await forgetKeys(services.db)} keys`,
    'trash-purge': async () => `purged ${await purgeExpired(services)} items`,
  };
  return { runChore: (chore) => chores[chore]() };
}
