import { forgetAccountTraces } from '../api/auth/forget-traces.js';
import { writeCheckpoint } from '../api/audit/checkpoint.js';
import { forgetRuns } from '../api/automations/forget-runs.js';
import type { Services } from '../api/core/context.js';
import { forgetKeys } from '../api/core/idempotency-keys.js';
import { purgeReceipts } from '../api/forge/purge-receipts.js';
import { announceDue } from '../api/tasks/announce-due.js';
import { tellExpiry } from '../api/tokens/tell-expiry.js';
import { purgeExpired } from '../api/trash/purge-expired.js';
import type { Chore, ChoreActivities } from '../workflows/contract.js';

/** Counters whose window has closed say nothing any more; without this there would be a row for ever for every address that called. */
const forgetCallers = (db: Services['db']): Promise<number> => db('rate_limits').where('expire', '<', Date.now()).delete();

/** What each chore does, and what it says afterwards. Each may be repeated. */
export function choreActivities(services: Services): ChoreActivities {
  const chores: Record<Chore, () => Promise<string>> = {
    accounts: async () => `forgot ${await forgetAccountTraces(services.db)} codes, counts, mails, sessions and devices`,
    'audit-checkpoint': async () => `signed the heads of ${(await writeCheckpoint(services)).heads.length} chains`,
    'due-scan': async () => `announced ${await announceDue(services)} due dates`,
    'forge-receipts': async () => `emptied ${await purgeReceipts(services.db)} receipts`,
    'idempotency-keys': async () => `forgot ${await forgetKeys(services.db)} keys`,
    'rate-limits': async () => `forgot ${await forgetCallers(services.db)} callers`,
    'run-history': async () => `forgot ${await forgetRuns(services)} runs`,
    'token-expiry': async () => `told ${await tellExpiry(services)} owners`,
    'trash-purge': async () => `purged ${await purgeExpired(services)} items`,
  };
  return { runChore: (chore) => chores[chore]() };
}
