import { condition, proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { BulkActivities, BulkInput, BulkView, ExportActivities } from './contracts/bulk-contract.js';
import { OUTBOUND_HEARTBEAT, outboundQueue } from './contracts/queues.js';
import { SEARCH_ATTRIBUTES } from './search-attributes.js';
import { showDetails } from './show-details.js';
import { upsertAttributes } from './upsert-attributes.js';

const { viewBulkJob } = proxyLocalActivities<BulkActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 ms', maximumInterval: '10 seconds' },
});

/** The activity ends itself after ten minutes. A worker that dies is missed by its heartbeats. */
const TIMES = { startToCloseTimeout: '15 minutes', heartbeatTimeout: OUTBOUND_HEARTBEAT.missedAfterMs } as const;

/** Delays between two looks at the progress, ms; the last one repeats. */
const LOOK_MS = [1_000, 2_000, 5_000, 15_000, 30_000];

const describeRows = ({ processed, total }: BulkView): string => `${processed} of ${total ?? 'an unknown number of'} rows`;

function buildDetails(view: BulkView): string {
  if (view.status === 'running' || view.status === 'queued')
    return `### Export\n\n» ${describeRows(view)}, attempt ${view.attempt}`;
  return `### Export\n\nEnded: **${view.status}**${view.code === null ? '' : ` (\`${view.code}\`)`}, ${view.processed} rows`;
}

/**
 * Exports the data of a team. PostgreSQL holds the job: an activity claims it, writes the file and ends it; meanwhile the workflow shows the
 * progress. Returns the state of the job.
 */
export async function bulkExport(input: BulkInput): Promise<BulkView> {
  const { writeExport } = proxyActivities<ExportActivities>({
    ...TIMES,
    taskQueue: outboundQueue(workflowInfo().taskQueue),
    retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
    summary: 'Write file',
  });
  let isOver = false;
  const writing = writeExport(input.jobId).finally(() => {
    isOver = true;
  });
  // Awaited below; a failure meanwhile must not be taken for an unhandled one.
  writing.catch(() => undefined);
  for (let look = 0; !(await condition(() => isOver, LOOK_MS[Math.min(look, LOOK_MS.length - 1)] as number)); look += 1) {
    showDetails(buildDetails(await viewBulkJob(input.jobId)));
  }
  await writing;
  const view = await viewBulkJob(input.jobId);
  showDetails(buildDetails(view));
  upsertAttributes(input, { key: SEARCH_ATTRIBUTES.RunState, value: view.status });
  return view;
}
