import { deleteOldSteps } from '../api/agent/providers/steps/delete-old-steps.js';
import { deleteOldPlans } from '../api/agent/plans/waiting/delete-old-plans.js';
import { expirePlans } from '../api/agent/plans/waiting/expire-plans.js';
import { sendDigests } from '../api/automation/triage/send-digests.js';
import { deleteExpiredAccountData } from '../api/identity/auth/delete-expired-account-data.js';
import { writeCheckpoint } from '../api/audit/checkpoint.js';
import { expireFiles } from '../api/bulk/jobs/expire-files.js';
import { deleteOldCalls } from '../api/automation/hooks/delete-old-calls.js';
import { deleteExpiredRuns } from '../api/automation/runs/delete-expired-runs.js';
import { deleteOldRequests, deleteOldResults } from '../api/gate/requests/waiting/delete-old-requests.js';
import { expireRequests, forgetOutcomes } from '../api/gate/requests/waiting/settle-request.js';
import type { Services } from '../api/platform/context.js';
import { deleteExpiredKeys } from '../api/platform/database/idempotency-keys.js';
import { sweepObjects } from '../api/work/items/files/sweep-objects.js';
import { deleteExpiredForgeSecrets } from '../api/integrations/forge/addresses/delete-expired-secrets.js';
import { purgeReceipts } from '../api/integrations/forge/deliveries/purge-receipts.js';
import { deleteOldNotifications } from '../api/work/notifications/delete-old-notifications.js';
import { deleteOldJobs } from '../api/automation/runners/jobs/delete-old-jobs.js';
import { forgetWords } from '../api/work/search/forget-words.js';
import { announceDue } from '../api/work/tasks/write/announce-due.js';
import { mailExpiringTokens } from '../api/identity/tokens/mail-expiring-tokens.js';
import { purgeExpired } from '../api/bulk/trash/purge-expired.js';
import { deleteExpiredSecrets } from '../api/integrations/webhooks/delete-expired-secrets.js';
import { maintainPartitions } from '../db/partitions.js';
import { defineStatement, run } from '../db/statement.js';
import type { MaintenanceJob, MaintenanceActivities } from '../workflows/contracts/maintenance-contract.js';

/** $1 = time in ms. */
const deleteCallersStatement = defineStatement({
  name: 'delete_expired_callers',
  text: /* sql */ `
    with deleted as (delete from rate_limits where expire < $1 returning key)
    select count(*)::int as callers from deleted`,
});

/** Deletes counters whose window has ended; otherwise every calling address would keep a row forever. */
async function deleteExpiredCallers(db: Services['db']): Promise<number> {
  const [deleted] = await run<{ callers: number }>(db, deleteCallersStatement, [Date.now()]);
  return deleted?.callers ?? 0;
}

/** Problems are logged and tried again at the next call; the gauges of partitions tell when that is not enough. */
async function partitions({ db, log }: Services): Promise<string> {
  const { made, dropped, problems } = await maintainPartitions(db);
  if (problems.length > 0) log.error({ problems }, 'Some partitions could not be made or dropped');
  return `made ${made} partitions, dropped ${dropped}, left ${problems.length} for later`;
}

async function changeRequests(services: Services): Promise<string> {
  const [expired, unknown] = [await expireRequests(services), await forgetOutcomes(services)];
  return `expired ${expired} requests, ended ${unknown} outcomes as unknown`;
}

async function bulkFiles(services: Services): Promise<string> {
  const { files, jobs } = await expireFiles(services);
  return `removed ${files} files, deleted ${jobs} jobs`;
}

/** Maintenance jobs with the line that each returns. Each may be repeated. */
export function maintenanceActivities(services: Services): MaintenanceActivities {
  const jobs: Record<MaintenanceJob, () => Promise<string>> = {
    accounts: async () => `deleted ${await deleteExpiredAccountData(services.db)} codes, counts, mails, sessions and devices`,
    'agent-steps': async () => `deleted ${await deleteOldSteps(services.db)} steps of models`,
    'agent-plans': async () => `expired ${await expirePlans(services)} plans`,
    'audit-checkpoint': async () => `signed the heads of ${(await writeCheckpoint(services)).heads.length} chains`,
    'bulk-files': () => bulkFiles(services),
    'change-requests': () => changeRequests(services),
    'due-scan': async () => `emitted ${await announceDue(services)} due events`,
    'file-sweep': async () => `removed ${await sweepObjects(services)} objects`,
    'forge-receipts': async () => `cleared ${await purgeReceipts(services.db)} receipts`,
    'idempotency-keys': async () =>
      `deleted ${(await deleteExpiredKeys(services.db)) + (await deleteOldCalls(services.db))} keys`,
    notifications: async () => `deleted ${await deleteOldNotifications(services.db)} notifications`,
    partitions: () => partitions(services),
    'plan-history': async () => `deleted ${await deleteOldPlans(services)} plans`,
    'plan-digest': async () => `mailed ${await sendDigests(services)} users`,
    'rate-limits': async () => `deleted ${await deleteExpiredCallers(services.db)} rate limit windows`,
    'request-history': async () =>
      `deleted ${await deleteOldResults(services)} results and ${await deleteOldRequests(services)} change requests`,
    'runner-jobs': async () => `deleted ${await deleteOldJobs(services)} jobs of runners`,
    'run-history': async () => `deleted ${await deleteExpiredRuns(services)} runs`,
    'search-vocabulary': async () => `deleted ${await forgetWords(services.db)} words`,
    'token-expiry': async () => `notified ${await mailExpiringTokens(services)} owners`,
    'trash-purge': async () => `purged ${await purgeExpired(services)} items`,
    'webhook-secrets': async () =>
      `deleted ${(await deleteExpiredSecrets(services)) + (await deleteExpiredForgeSecrets(services))} secrets`,
  };
  return { runMaintenanceJob: (job) => jobs[job]() };
}
