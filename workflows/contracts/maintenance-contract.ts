/** Names of the maintenance jobs. */

/** Workflow type of the maintenance jobs. */
export const HOUSEKEEPING = 'housekeeping';
export type MaintenanceJob =
  | 'accounts'
  | 'agent-plans'
  | 'agent-steps'
  | 'audit-checkpoint'
  | 'bulk-files'
  | 'change-requests'
  | 'due-scan'
  | 'file-sweep'
  | 'forge-receipts'
  | 'idempotency-keys'
  | 'notifications'
  | 'partitions'
  | 'rate-limits'
  | 'request-history'
  | 'plan-digest'
  | 'plan-history'
  | 'run-history'
  | 'runner-jobs'
  | 'search-vocabulary'
  | 'token-expiry'
  | 'trash-purge'
  | 'webhook-secrets';
export interface MaintenanceActivities {
  /** Performs the job once; returns one line about it. */
  runMaintenanceJob(job: MaintenanceJob): Promise<string>;
}
