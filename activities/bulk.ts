import { ApplicationFailure, cancellationSignal, heartbeat } from '@temporalio/activity';
import type { Knex } from 'knex';
import { runExport } from '../api/bulk/export/run-export.js';
import { bulkDispatchesStatement, dispatchedJobsStatement, restartJobsStatement } from '../api/bulk/jobs/progress.sql.js';
import { viewJob } from '../api/bulk/jobs/view-job.js';
import type { Services } from '../api/platform/context.js';
import { openDatabase } from '../db/connection.js';
import {
  BULK_UNDO,
  BULK_WORKFLOWS,
  type BulkActivities,
  type BulkInput,
  bulkUndoWorkflowId,
  bulkWorkflowId,
  type ExportActivities,
} from '../workflows/contracts/bulk-contract.js';
import { REMEDY_PRIORITY } from '../workflows/contracts/queues.js';
import { importActivities, importEndings } from './imports.js';
import { defineRowWorkflow } from './row-workflow.js';

/** Exports that a process writes at once; each has a connection of the pool for exports. */
const EXPORTS_AT_ONCE = 2;
/** Delay after which an export asks again for a slot. */
const BUSY_RETRY = '2 seconds';

/** Activities that write exports, for the queue `outbound`: they run for minutes. `exportDb`: a pool of `EXPORTS_AT_ONCE` connections. */
function exportActivities(services: Services, exportDb: Knex): ExportActivities {
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

/** An outbox row that starts the workflow of a job. */
interface Row {
  outbox_id: number;
  correlation_id: string;
  job_id: string;
  is_undo: boolean;
  team_id: string;
  kind: keyof typeof BULK_WORKFLOWS;
  format: string;
  requested_by: string;
}

/** Activities that read the jobs of bulk data, and end those whose batches failed permanently. */
const coreActivities = (services: Services): BulkActivities => ({
  viewBulkJob: (jobId) => viewJob(services, jobId),
  ...importEndings(services),
});

/** Jobs of bulk data that have their team's place: one workflow a job. */
export const bulkJobs = defineRowWorkflow<Row, { job_id: string; is_undo: boolean }>({
  notes: [
    { process: 'bulk_export', workflowId: 'bulk:<job_id>', shows: 'Exports; the details show the rows so far' },
    { process: 'bulk_import', workflowId: 'bulk:<job_id>', shows: 'Imports; the details show the rows so far' },
    { process: 'bulk_undo', workflowId: 'bulk-undo:<job_id>', shows: 'Undos of imports' },
  ],
  invariants: [
    {
      name: 'jobs_carried',
      words: 'No job of bulk data has run for more than 60 s without an open workflow',
      sql: /* sql */ `
        select j.job_id::text as violation from bulk_jobs j
        where j.is_dispatched and j.undo_id is null and j.created_at < clock_timestamp() - interval '60 seconds'`,
      buildWorkflowId: bulkWorkflowId,
    },
    {
      name: 'undos_carried',
      words: 'No undo of an import that was requested more than 60 s ago is without an open workflow',
      sql: /* sql */ `
        select j.job_id::text as violation from bulk_jobs j
        where j.is_dispatched and j.undo_id is not null and not exists (
          select from audit_entries a where a.team_id = j.team_id and a.entity_id = j.job_id::text and a.action = 'undo'
            and a.timestamp > to_char(clock_timestamp() at time zone 'utc' - interval '60 seconds', 'YYYY-MM-DD"T"HH24:MI:SS.US')
        )`,
      buildWorkflowId: bulkUndoWorkflowId,
    },
  ],
  activities: {
    core: coreActivities,
    outbound: (services, { exportDb }) => exportActivities(services, exportDb),
    imports: importActivities,
  },
  plural: 'jobs of bulk data',
  kinds: ['bulk.start', 'bulk.undo'],
  dispatches: bulkDispatchesStatement,
  workflow: ({ is_undo, kind }) => (is_undo ? BULK_UNDO : BULK_WORKFLOWS[kind]),
  getId: ({ job_id, is_undo }) => (is_undo ? bulkUndoWorkflowId(job_id) : bulkWorkflowId(job_id)),
  input: ({ job_id }): BulkInput => ({ jobId: job_id }),
  attributes: (row) => ({
    Process: row.is_undo ? 'bulk_undo' : `bulk_${row.kind}`,
    RunState: 'running',
    TeamId: row.team_id,
    ActorId: row.requested_by,
    EntityId: row.job_id,
  }),
  summary: ({ is_undo, kind, format }) =>
    `${is_undo ? 'Undo of an import' : kind === 'export' ? 'Export' : 'Import'} (${format})`,
  details: ({ job_id, team_id }) => [`Job \`${job_id}\` of team \`${team_id}\``],
  startOptions: ({ team_id, is_undo }) => ({
    priority: { fairnessKey: team_id, ...(is_undo && { priorityKey: REMEDY_PRIORITY }) },
  }),
  key: 'job_id',
  open: dispatchedJobsStatement,
  restart: restartJobsStatement,
});
