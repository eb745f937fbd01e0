import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { failImport } from '../api/bulk/import/fail-import.js';
import { importBatch } from '../api/bulk/import/import-batch.js';
import { prepareImport } from '../api/bulk/import/prepare-import.js';
import { failUndo, undoBatch } from '../api/bulk/undo/undo-batch.js';
import type { Services } from '../api/platform/context.js';
import type { ImportActivities, ImportEndings } from '../workflows/contracts/bulk-contract.js';
import { OUTBOUND_HEARTBEAT } from '../workflows/contracts/queues.js';

/** Calls `work` with a heartbeat beside it. */
async function beating<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const timer = setInterval(() => heartbeat(), OUTBOUND_HEARTBEAT.everyMs);
  try {
    return await work(cancellationSignal());
  } finally {
    clearInterval(timer);
  }
}

/**
 * Activities that write imports and take them back, for the queue `imports`: they run for seconds to minutes, and most of their time is the
 * database's. What waits for a slot waits in the queue, so it holds none of another queue, and teams take turns.
 */
export function importActivities(services: Services): ImportActivities {
  return {
    prepareImport: (jobId) => beating((signal) => prepareImport(services, jobId, signal)),
    importBatch: (jobId) => beating((signal) => importBatch(services, jobId, signal)),
    undoBatch: (jobId) => beating((signal) => undoBatch(services, jobId, signal)),
  };
}

/** Activities that end a job whose batches failed permanently. */
export const importEndings = (services: Services): ImportEndings => ({
  failImport: (jobId) => failImport(services, jobId),
  failUndo: (jobId) => failUndo(services, jobId),
});
