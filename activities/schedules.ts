import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy, type ScheduleOptions } from '@temporalio/client';
import { type MaintenanceJob, HOUSEKEEPING } from '../workflows/contracts/maintenance-contract.js';
import { taskQueue } from '../workflows/contracts/queues.js';

/** Schedules of the maintenance jobs. After an outage each runs at most once, because every job does all that is due. */
const SCHEDULES: { job: MaintenanceJob; spec: ScheduleOptions['spec']; note: string }[] = [
  {
    job: 'accounts',
    spec: { calendars: [{ hour: 4, minute: 10 }] },
    note: 'Deletes expired codes, mails and sign-in data',
  },
  { job: 'agent-steps', spec: { calendars: [{ hour: 3, minute: 50 }] }, note: 'Deletes what models said, after a week' },
  { job: 'change-requests', spec: { intervals: [{ every: '1 minute' }] }, note: 'Expires change requests that waited too long' },
  { job: 'request-history', spec: { calendars: [{ hour: 4, minute: 25 }] }, note: 'Deletes change requests that ended long ago' },
  { job: 'agent-plans', spec: { intervals: [{ every: '1 minute' }] }, note: 'Expires plans that waited too long' },
  { job: 'audit-checkpoint', spec: { intervals: [{ every: '1 hour' }] }, note: 'Signs the heads of all audit chains' },
  { job: 'bulk-files', spec: { intervals: [{ every: '1 hour' }] }, note: 'Removes files of exports and imports after 7 days' },
  {
    job: 'due-scan',
    spec: { intervals: [{ every: '5 minutes' }] },
    note: 'Emits events for tasks due soon and overdue',
  },
  { job: 'file-sweep', spec: { calendars: [{ hour: 4, minute: 50 }] }, note: 'Removes bytes of purged files' },
  { job: 'notifications', spec: { calendars: [{ hour: 4, minute: 40 }] }, note: 'Deletes old notifications' },
  { job: 'partitions', spec: { intervals: [{ every: '1 hour' }] }, note: 'Makes the next partitions and drops old ones' },
  { job: 'plan-history', spec: { calendars: [{ hour: 4, minute: 20 }] }, note: 'Deletes plans that ended long ago' },
  { job: 'run-history', spec: { calendars: [{ hour: 4, minute: 30 }] }, note: 'Deletes expired runs' },
  { job: 'runner-jobs', spec: { calendars: [{ hour: 4, minute: 0 }] }, note: 'Deletes old jobs of runners with their logs' },
  { job: 'forge-receipts', spec: { calendars: [{ hour: 3, minute: 20 }] }, note: 'Clears inbound deliveries after 30 days' },
  {
    job: 'plan-digest',
    spec: { intervals: [{ every: '15 minutes' }] },
    note: 'Emails each morning what waits for a confirmation',
  },
  { job: 'rate-limits', spec: { intervals: [{ every: '1 hour' }] }, note: 'Deletes expired rate limit windows' },
  {
    job: 'token-expiry',
    spec: { intervals: [{ every: '1 hour' }] },
    note: 'Notifies token owners 7 days and 1 day before expiry',
  },
  {
    job: 'search-vocabulary',
    spec: { calendars: [{ hour: 4, minute: 50 }] },
    note: 'Deletes words of titles that are gone, for typos in searches',
  },
  { job: 'trash-purge', spec: { intervals: [{ every: '1 hour' }] }, note: 'Purges items after 30 days in the trash' },
  { job: 'webhook-secrets', spec: { intervals: [{ every: '1 hour' }] }, note: 'Deletes webhook secrets that no longer sign' },
  { job: 'idempotency-keys', spec: { calendars: [{ hour: 3, minute: 40 }] }, note: 'Deletes idempotency keys after 24 hours' },
];

/** Creates the service's own Schedules or updates them to this build. Idempotent; called at every start. */
export async function ensureSchedules(client: Client, taskQueuePrefix: string): Promise<void> {
  for (const { job, spec, note } of SCHEDULES) {
    const options: ScheduleOptions = {
      scheduleId: `${taskQueuePrefix}${job}`,
      spec,
      action: {
        type: 'startWorkflow',
        workflowType: HOUSEKEEPING,
        workflowId: `${taskQueuePrefix}${job}`,
        taskQueue: taskQueue(taskQueuePrefix, 'core'),
        args: [job],
        staticSummary: note,
      },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '10 minutes', pauseOnFailure: false },
      state: { note },
    };
    try {
      await client.schedule.create(options);
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      const { action, policies } = options;
      await client.schedule
        .getHandle(options.scheduleId)
        .update(({ state }) => ({ action, spec, policies: policies ?? {}, state }) as never);
    }
  }
}
