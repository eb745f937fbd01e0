import { run, type Statement } from '../../../db/statement.js';
import type { ActionResult } from '../../../workflows/contract.js';
import type { Services } from '../../core/context.js';
import { fromDatabaseError } from '../../core/database-errors.js';
import { DomainError } from '../../core/errors.js';
import { type ActionFailure, ActionRefused } from '../actions/action-refused.js';
import { SecretUnreadable } from '../../secrets/vault.js';
import type { Carrier } from './claim-run.js';
import { inStep } from './in-step.js';

/** $1 run, $2 index, $3 error (jsonb). */
const failStatement: Statement = {
  name: 'fail_action',
  text: `update run_actions set status = 'failed', error = $3::jsonb, finished_at = now() where run_id = $1 and index = $2`,
};

/** What to write down of a thrown error, or undefined when PostgreSQL is away and the action must be tried again. */
function failureOf(thrown: unknown): ActionFailure | undefined {
  if (thrown instanceof ActionRefused) return thrown.failure;
  if (thrown instanceof SecretUnreadable) return { code: 'secret_unreadable', message: thrown.message };
  const error = thrown instanceof DomainError ? thrown : fromDatabaseError(thrown);
  if (!error) return { code: 'internal_error', message: 'Something went wrong on our side' };
  if (error.status >= 500) return undefined;
  const reason = error.extra['reason'];
  return { code: typeof reason === 'string' ? reason : error.code.toLowerCase(), message: error.message };
}

/**
 * Records what was thrown as the failure of the step.
 * @throws what was thrown, when PostgreSQL is away
 */
export function failStep(services: Services, carrier: Carrier, index: number, thrown: unknown): Promise<ActionResult> {
  const failure = failureOf(thrown);
  if (!failure) throw thrown;
  if (failure.code === 'internal_error') services.log.error({ err: thrown, run_id: carrier.runId, index }, 'action failed');
  return inStep(services, carrier, index, async (db, { run_id }) => {
    await run(db, failStatement, [run_id, index, JSON.stringify(failure)]);
    return { status: 'failed', error: failure };
  });
}
