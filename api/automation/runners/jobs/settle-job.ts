import type { RunnerJobStatus } from '../../../../db/models/runner-job.js';
import { run } from '../../../../db/statement.js';
import type { RunnerJobView } from '../../../../workflows/contracts/runner-contract.js';
import { inTransaction, type Services } from '../../../platform/context.js';
import { endRunnerJob, jobsContext } from '../record/end-job.js';
import { type EndReason, type EndStatus, isOpen } from '../record/rules.js';
import { lockJobClocksStatement, viewJobStatement } from './settle-job.sql.js';

type ClockReason = Extract<EndReason, 'cancelled' | 'never_claimed' | 'lease_over' | 'timed_out' | 'not_stopped'>;

interface Clocks extends Record<string, unknown> {
  status: RunnerJobStatus;
  exit_code: number | null;
  error_code: string | null;
  correlation_id: string;
  reason: ClockReason | null;
  due_at: Date | null;
  ms_left: number | null;
}

const END_OF: Readonly<Record<ClockReason, EndStatus>> = {
  cancelled: 'cancelled',
  never_claimed: 'timed_out',
  lease_over: 'lost',
  timed_out: 'timed_out',
  not_stopped: 'cancelled',
};

const GONE: RunnerJobView = { state: 'gone', dueAt: null, msLeft: 0, exitCode: null, reason: null };

const toView = (row: Clocks | undefined): RunnerJobView =>
  row
    ? {
        state: row.status,
        dueAt: isOpen(row.status) ? (row.due_at?.toISOString() ?? null) : null,
        msLeft: row.ms_left ?? 0,
        exitCode: row.exit_code,
        reason: row.error_code,
      }
    : GONE;

/**
 * Ends a job past its deadline by the database's clock: nobody took it, its lease or its own time is over, or its runner did not stop it.
 * Returns its state. May be repeated.
 */
export async function settleJob(services: Services, jobId: string): Promise<RunnerJobView> {
  const { RUNNER_QUEUE_SECONDS, RUNNER_CANCEL_SECONDS } = services.config;
  const values = [jobId, RUNNER_QUEUE_SECONDS, RUNNER_CANCEL_SECONDS];
  const read = async (db: Services['db'], statement = viewJobStatement) => (await run<Clocks>(db, statement, values))[0];
  const seen = await read(services.db);
  if (!seen?.reason) return toView(seen);
  await inTransaction(jobsContext(services, seen.correlation_id), async (ctx) => {
    // A report may have come first.
    const locked = await read(ctx.db, lockJobClocksStatement);
    if (locked?.reason) await endRunnerJob(ctx, jobId, { status: END_OF[locked.reason], reason: locked.reason });
  });
  return toView(await read(services.db));
}
