import { setTimeout as sleep } from 'node:timers/promises';
import { run } from '../../../db/statement.js';
import type { InstanceRole } from '../../platform/access/actor.js';
import { inTransaction, type Services } from '../../platform/context.js';
import { newId } from '../../platform/ids.js';
import { markImportStatement } from '../import/import-batch.sql.js';
import { contextOfJob } from '../jobs/claim-job.js';
import { dispatchNext, lockSlot } from '../jobs/slot.js';
import { recordJobChange } from '../jobs/record-job-change.js';
import { requesterSeat } from '../jobs/requester-seat.js';
import { undoRecords, TAKEN_AT_ONCE, UNDO_ORDER } from './undo-records.js';
import { claimUndoStatement, endUndoStatement, finishRowsStatement, nextRowsStatement } from './undo-batch.sql.js';

/** Records of one transaction: items in one statement, others one by one. */
const ITEMS = 1_000;
const OTHERS = 100;
/** Transactions of one batch. */
const STEPS = 5;
/** Share of the time of a transaction for which the undo then rests. */
const THROTTLE_RATIO = 0.75;
const MAX_REST_MS = 1_000;

interface UndoJob extends Record<string, unknown> {
  job_id: string;
  team_id: string;
  undo_id: string;
  correlation_id: string;
  requested_by: string;
  email: string;
  role: InstanceRole;
  /** False for a person who was suspended or deprovisioned. */
  is_active: boolean;
}

interface UndoRow extends Record<string, unknown> {
  line: number;
  part: number;
  entity: string;
  item_id: string;
}

/** Why an undo ends before everything is undone: it has ended, or the requester lost the permission. */
class UndoAborted extends Error {}

/** Ends an undo, and gives the slot of the team to the next job. */
async function end(services: Services, job: UndoJob, status: 'succeeded' | 'failed'): Promise<void> {
  await inTransaction({ ...contextOfJob(services, job), requestId: newId() }, async (ctx) => {
    await lockSlot(ctx, job.team_id);
    const [ended] = await run<{ undone: number }>(ctx.db, endUndoStatement, [job.job_id, status]);
    if (!ended) return;
    await dispatchNext(ctx, job.team_id);
    const details = { kind: 'undo', status, undone: ended.undone, undo_id: job.undo_id };
    await recordJobChange(ctx, job, 'complete', { severity: 'MEDIUM', details });
  });
}

/** Takes the next records back in one transaction; returns whether there were any. @throws UndoAborted */
function step(services: Services, job: UndoJob): Promise<boolean> {
  const { job_id, team_id, undo_id } = job;
  return inTransaction({ ...contextOfJob(services, job), requestId: newId() }, async (ctx) => {
    if ((await requesterSeat(ctx, team_id)) === null) throw new UndoAborted('The permission is lost, or the team is gone');
    await run(ctx.db, markImportStatement, ['quiet']);
    const rows = await run<UndoRow>(ctx.db, nextRowsStatement, [job_id, UNDO_ORDER, TAKEN_AT_ONCE, ITEMS, OTHERS]);
    const [first] = rows;
    if (!first) return false;
    const ids = rows.map(({ item_id }) => item_id);
    const taken = await undoRecords({ ctx, job_id, team_id, undo_id }, first.entity, ids);
    const done = [rows.map(({ line }) => line), rows.map(({ part }) => part)];
    const [moved] = await run(ctx.db, finishRowsStatement, [job_id, ...done, taken]);
    if (!moved) throw new UndoAborted('The undo has ended');
    await recordJobChange(ctx, job, 'delete', { details: { undo_id, entity: first.entity, records: taken } });
    return true;
  });
}

/**
 * Undoes the next records that an import has created: items go to the trash as one cascade, the rest is deleted. A repeated batch resumes at the
 * cursor: each record is marked in the transaction that undoes it. Resolves to whether the undo has ended.
 */
export async function undoBatch(services: Services, jobId: string, signal: AbortSignal): Promise<boolean> {
  const [job] = await run<UndoJob>(services.db, claimUndoStatement, [jobId]);
  if (!job) return true;
  try {
    for (let steps = 0; steps < STEPS; steps += 1) {
      signal.throwIfAborted();
      const started = performance.now();
      if (!(await step(services, job))) {
        await end(services, job, 'succeeded');
        return true;
      }
      await sleep(Math.min(MAX_REST_MS, (performance.now() - started) * THROTTLE_RATIO), undefined, { signal });
    }
    return false;
  } catch (error) {
    if (!(error instanceof UndoAborted)) throw error;
    await end(services, job, 'failed');
    return true;
  }
}

/** Ends an undo whose batches failed every time; it can be asked for again. May be repeated. */
export async function failUndo(services: Services, jobId: string): Promise<void> {
  const [job] = await run<UndoJob>(services.db, claimUndoStatement, [jobId]);
  if (job) await end(services, job, 'failed');
}
