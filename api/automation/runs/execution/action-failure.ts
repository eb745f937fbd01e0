import type { Knex } from 'knex';
import { defineStatement, run } from '../../../../db/statement.js';
import type { ActionResult } from '../../../../workflows/contracts/run-contract.js';
import type { Services } from '../../../platform/context.js';
import { fromDatabaseError } from '../../../platform/database/database-errors.js';
import { DomainError, reasonOf } from '../../../platform/errors.js';
import { type ActionFailure, ActionRefused } from '../../../gate/contract/action-refused.js';
import { SecretUnreadable } from '../../secrets/vault.js';
import { isRetryableCode, retryDelay } from '../record/rules.js';
import type { RunExecution } from './claim-run.js';
import { type ActiveStep, withStep, type Step, type StepOutcome, maxAttempts } from './with-step.js';

/** $1 = run id, $2 = index, $3 = error (jsonb). */
const failStatement = defineStatement({
  name: 'fail_action',
  text: `update run_actions set status = 'failed', error = $3::jsonb, finished_at = now() where run_id = $1 and index = $2`,
});

/** Returns a thrown error as a failure; undefined if PostgreSQL is unavailable and the action must be retried. */
export function toFailure(thrown: unknown): ActionFailure | undefined {
  if (thrown instanceof ActionRefused) return thrown.failure;
  if (thrown instanceof SecretUnreadable) return { code: 'secret_unreadable', message: thrown.message };
  const error = thrown instanceof DomainError ? thrown : fromDatabaseError(thrown);
  if (!error) return { code: 'internal_error', message: 'Internal error' };
  if (error.status >= 500) return undefined;
  const reason = error.extra['reason'];
  return { code: typeof reason === 'string' ? reason : error.code.toLowerCase(), message: reasonOf(error) };
}

/** $1 = run id, $2 = index, $3 = error (jsonb), $4 = seconds until the next attempt. */
const retryStatement = defineStatement({
  name: 'retry_action',
  text: /* sql */ `
    update run_actions set status = 'running', error = $3::jsonb, due_at = now() + make_interval(secs => $4)
    where run_id = $1 and index = $2 returning due_at`,
});

/** Records why an attempt failed and when the next one is due: after the backoff or `askedMs`, whichever is longer. */
export async function scheduleRetry(
  db: Knex,
  begun: ActiveStep,
  index: number,
  failure: ActionFailure,
  { attempt, askedMs = 0 }: { attempt: number; askedMs?: number },
): Promise<StepOutcome> {
  const msLeft = Math.max(retryDelay(attempt) * 1_000, askedMs);
  const values = [begun.run_id, index, JSON.stringify(failure), msLeft / 1_000];
  const [row] = await run<{ due_at: Date }>(db, retryStatement, values);
  const until = (row as { due_at: Date }).due_at.toISOString();
  return {
    status: 'running',
    error: null,
    wait: { msLeft, until, attempt: { next: attempt + 1, of: maxAttempts(begun, index) } },
  };
}

/** Schedules a retry if the automation allows one and the failure is retryable; otherwise fails the step. */
async function fail(db: Knex, begun: ActiveStep, { index, attempts }: Step, failure: ActionFailure): Promise<StepOutcome> {
  const attempt = attempts + 1;
  if (attempt < maxAttempts(begun, index) && !begun.is_test && isRetryableCode(failure.code)) {
    return scheduleRetry(db, begun, index, failure, { attempt });
  }
  return endInFailure(db, begun, index, failure);
}

/** Fails a step without another attempt. */
export async function endInFailure(db: Knex, { run_id }: ActiveStep, index: number, error: ActionFailure): Promise<StepOutcome> {
  await run(db, failStatement, [run_id, index, JSON.stringify(error)]);
  return { status: 'failed', error };
}

/**
 * Records a thrown error as the step's failure, or schedules a retry.
 * @throws the error itself if PostgreSQL is unavailable
 */
export function failStep(services: Services, owner: RunExecution, index: number, thrown: unknown): Promise<ActionResult> {
  const failure = toFailure(thrown);
  if (!failure) throw thrown;
  if (failure.code === 'internal_error') services.log.error({ err: thrown, run_id: owner.runId, index }, 'action failed');
  return withStep(services, owner, index, (db, begun, step) => fail(db, begun, step, failure));
}
