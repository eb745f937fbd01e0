import { ApplicationFailure, cancellationSignal, heartbeat } from '@temporalio/activity';
import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import type { Knex } from 'knex';
import { runExport } from '../api/bulk/export/run-export.js';
import { bulkDispatchesStatement, dispatchedJobsStatement, restartJobsStatement } from '../api/bulk/jobs/progress.sql.js';
import { viewJob } from '../api/bulk/jobs/view-job.js';
import type { Services } from '../api/core/context.js';
import { logScope } from '../api/core/telemetry/log.js';
import type { Dispatcher } from '../api/outbox/dispatch-outbox.js';
import { openDatabase } from '../db/connection.js';
import { run } from '../db/statement.js';
import {
  BULK_UNDO,
  BULK_WORKFLOWS,
  type BulkActivities,
  type BulkInput,
  bulkUndoWorkflowId,
  bulkWorkflowId,
  type ExportActivities,
  REMEDY_PRIORITY,
  taskQueue,
} from '../workflows/contract.js';
import { SEARCH_ATTRIBUTES as ATTRIBUTE } from '../workflows/search-attributes.js';
import { each } from './worker/each.js';
import { isWorkflowOpen } from './worker/open-workflows.js';

/** Exports that a process writes at once; each has a connection of the pool for exports. */
const EXPORTS_AT_ONCE = 2;
/** Delay after which an export asks again for a slot. */
const BUSY_RETRY = '2 seconds';

/** Activities that read the jobs of bulk data. */
export const bulkActivities = (services: Services): BulkActivities & Record<string, unknown> => ({
  viewBulkJob: (jobId: string) => viewJob(services, jobId),
});

/** Activities that write exports, for the queue `outbound`: they run for minutes. `exportDb`: a pool of `EXPORTS_AT_ONCE` connections. */
export function exportActivities(services: Services, exportDb: Knex): ExportActivities & Record<string, unknown> {
  let running = 0;
  return {
    async writeExport(jobId: string) {
      // Before the job is claimed: waiting is no attempt.
      if (running >= EXPORTS_AT_ONCE) {
        const message = 'All slots of this worker are taken';
        throw ApplicationFailure.create({ type: 'ExportSlotsTaken', message, nextRetryDelay: BUSY_RETRY });
      }
      running += 1;
      try {
        return await runExport(services, jobId, { exportDb, heartbeat, signal: cancellationSignal() });
      } finally {
        running -= 1;
      }
    },
  };
}

/** Time without a fetch that the transaction of an export survives: the store may be slow to take what was fetched. */
const MAX_PAUSE_MS = 60_000;

/** Opens the pool of exports. A statement there counts or fetches rows of a whole team. */
export const openExportDatabase = (url: string): Knex =>
  openDatabase({
    url,
    poolSize: EXPORTS_AT_ONCE,
    name: 'assent-export',
    statementTimeout: MAX_PAUSE_MS,
    idleTransactionTimeout: MAX_PAUSE_MS,
  });

interface Start {
  outbox_id: number;
  correlation_id: string;
  job_id: string;
  team_id: string;
  kind: keyof typeof BULK_WORKFLOWS;
  format: string;
  requested_by: string;
  outbox_kind: 'bulk.start' | 'bulk.undo';
}

const attributesOf = (row: Start): SearchAttributePair[] => [
  { key: ATTRIBUTE.Process, value: row.outbox_kind === 'bulk.undo' ? 'bulk_undo' : `bulk_${row.kind}` },
  { key: ATTRIBUTE.RunState, value: 'running' },
  { key: ATTRIBUTE.TeamId, value: row.team_id },
  { key: ATTRIBUTE.ActorId, value: row.requested_by },
  { key: ATTRIBUTE.EntityId, value: row.job_id },
  { key: ATTRIBUTE.CorrelationId, value: row.correlation_id },
];

const workflowIdOf = (jobId: string, isUndo: boolean): string => (isUndo ? bulkUndoWorkflowId(jobId) : bulkWorkflowId(jobId));

/** Starts the workflows of jobs that have their team's place: one a job, however often it is repeated. */
export class BulkDispatcher implements Dispatcher<Start> {
  readonly kinds = ['bulk.start', 'bulk.undo'];
  readonly details = bulkDispatchesStatement;

  constructor(
    private readonly client: Client,
    private readonly options: { taskQueuePrefix: string; searchable: boolean },
  ) {}

  async dispatch(row: Start): Promise<void> {
    const { searchable, taskQueuePrefix } = this.options;
    const input: BulkInput = { jobId: row.job_id, ...(searchable ? {} : { searchable: false }) };
    const isUndo = row.outbox_kind === 'bulk.undo';
    const started = logScope.run({ correlation_id: row.correlation_id }, () =>
      this.client.workflow.start(isUndo ? BULK_UNDO : BULK_WORKFLOWS[row.kind], {
        workflowId: workflowIdOf(row.job_id, isUndo),
        taskQueue: taskQueue(taskQueuePrefix, 'core'),
        args: [input],
        // After a lost execution, the next one finds in the row what remains.
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
        staticSummary: `${isUndo ? 'Undo of an import' : row.kind === 'export' ? 'Export' : 'Import'} (${row.format})`,
        staticDetails: [
          `- Job \`${row.job_id}\` of team \`${row.team_id}\``,
          `- Correlation id \`${row.correlation_id}\`, as in the logs and the audit log`,
        ].join('\n'),
        priority: { fairnessKey: row.team_id, ...(isUndo && { priorityKey: REMEDY_PRIORITY }) },
        ...(searchable ? { typedSearchAttributes: attributesOf(row) } : {}),
      }),
    );
    await started.catch((error: unknown) => {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    });
  }

  /** Restarts the workflow of every job that has its team's place and none, after a lost store or a terminated workflow. Returns the number. */
  async reconcile({ db, log, notifyRelay }: Services): Promise<number> {
    const rows = await run<{ job_id: string; is_undo: boolean }>(db, dispatchedJobsStatement, []);
    const lost: string[] = [];
    await each(rows, async ({ job_id, is_undo }) => {
      if (!(await isWorkflowOpen(this.client, workflowIdOf(job_id, is_undo)))) lost.push(job_id);
    });
    if (lost.length === 0) return 0;
    await run(db, restartJobsStatement, [lost]);
    log.warn({ restarted: lost.length }, 'jobs of bulk data without a workflow were restarted');
    notifyRelay();
    return lost.length;
  }
}
