import {
  ActivityFailure,
  continueAsNew,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type { BulkActivities, BulkInput, BulkView, ImportActivities, ImportEndings } from './contracts/bulk-contract.js';
import { importQueue, OUTBOUND_HEARTBEAT } from './contracts/queues.js';
import { SEARCH_ATTRIBUTES } from './search-attributes.js';
import { showDetails } from './show-details.js';
import { upsertAttributes } from './upsert-attributes.js';

const { viewBulkJob, failImport, failUndo } = proxyLocalActivities<BulkActivities & ImportEndings>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 ms', maximumInterval: '10 seconds' },
});

/** A worker that dies is missed by its heartbeats. Rows that fail every time must not keep the team's place for ever: about an hour. */
const activities = (): ImportActivities =>
  proxyActivities<ImportActivities>({
    startToCloseTimeout: '3 hours',
    heartbeatTimeout: OUTBOUND_HEARTBEAT.missedAfterMs,
    taskQueue: importQueue(workflowInfo().taskQueue),
    retry: { initialInterval: '1 second', maximumInterval: '1 minute', maximumAttempts: 60 },
  });

function buildDetails(title: string, { status, processed, total, code }: BulkView): string {
  const rows = `${processed} of ${total ?? 'an unknown number of'} records`;
  if (status === 'running' || status === 'queued') return `### ${title}\n\n» ${rows}`;
  return `### ${title}\n\nEnded: **${status}**${code === null ? '' : ` (\`${code}\`)`}, ${rows}`;
}

async function show(title: string, input: BulkInput): Promise<BulkView> {
  const view = await viewBulkJob(input.jobId);
  showDetails(buildDetails(title, view));
  return view;
}

/** Repeats `step` until it says that the job has ended. Calls `fail` if an activity failed permanently. */
async function repeat(title: string, input: BulkInput, step: () => Promise<boolean>, fail: () => Promise<void>): Promise<void> {
  try {
    while (!(await step())) {
      await show(title, input);
      // The row has the position, so the next execution goes on.
      if (workflowInfo().continueAsNewSuggested) return await continueAsNew(input);
    }
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    await fail();
  }
}

/**
 * Imports a file into a team. PostgreSQL holds the job and its position: one activity prepares the input, then each writes 5,000 rows. Returns the
 * state of the job.
 */
export async function bulkImport(input: BulkInput): Promise<BulkView> {
  const work = activities();
  const { jobId } = input;
  let isPrepared = false;
  const step = async (): Promise<boolean> => {
    if (isPrepared) return work.importBatch(jobId);
    isPrepared = true;
    return work.prepareImport(jobId);
  };
  await repeat('Import', input, step, () => failImport(jobId));
  const view = await show('Import', input);
  upsertAttributes(input, { key: SEARCH_ATTRIBUTES.RunState, value: view.status });
  return view;
}

/** Takes back what an import has created, batch by batch. Returns the state of the import. */
export async function bulkUndo(input: BulkInput): Promise<BulkView> {
  const work = activities();
  const { jobId } = input;
  await repeat(
    'Undo of an import',
    input,
    () => work.undoBatch(jobId),
    () => failUndo(jobId),
  );
  upsertAttributes(input, { key: SEARCH_ATTRIBUTES.RunState, value: 'succeeded' });
  return show('Undo of an import', input);
}
