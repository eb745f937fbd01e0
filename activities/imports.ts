import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { failImport } from '../api/bulk/import/fail-import.js';
import { importBatch } from '../api/bulk/import/import-batch.js';
import { prepareImport } from '../api/bulk/import/prepare-import.js';
import { failUndo, undoBatch } from '../api/bulk/undo/undo-batch.js';
import type { Services } from '../api/core/context.js';
import { type ImportActivities, type ImportEndings, OUTBOUND_HEARTBEAT } from '../workflows/contract.js';

/** Imports and undos that a process writes at once. Each uses one connection of the worker, and most of its time is the database's. */
const IMPORTS_AT_ONCE = 2;

/** Calls `work` with a heartbeat beside it. */
async function beating<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const timer = setInterval(() => heartbeat(), OUTBOUND_HEARTBEAT.everyMs);
  try {
    return await work(cancellationSignal());
  } finally {
    clearInterval(timer);
  }
}

/** Activities that write imports and take them back, for the queue `outbound`: they run for seconds to minutes. */
export function importActivities(services: Services): ImportActivities & Record<string, unknown> {
  let free = IMPORTS_AT_ONCE;
  const waiting: (() => void)[] = [];
  // Batches wait in the order in which they come, so jobs take turns.
  const inSlot = <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> =>
    beating(async (signal) => {
      if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
      else free -= 1;
      try {
        signal.throwIfAborted();
        return await work(signal);
      } finally {
        const next = waiting.shift();
        if (next) next();
        else free += 1;
      }
    });
  return {
    prepareImport: (jobId) => inSlot((signal) => prepareImport(services, jobId, signal)),
    importBatch: (jobId) => inSlot((signal) => importBatch(services, jobId, signal)),
    undoBatch: (jobId) => inSlot((signal) => undoBatch(services, jobId, signal)),
  };
}

/** Activities that end a job whose batches failed for good. */
export const importEndings = (services: Services): ImportEndings & Record<string, unknown> => ({
  failImport: (jobId) => failImport(services, jobId),
  failUndo: (jobId) => failUndo(services, jobId),
});
