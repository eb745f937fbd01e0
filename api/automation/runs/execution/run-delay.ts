import { defineStatement, run } from '../../../../db/statement.js';
import type { ActionResult } from '../../../../workflows/contracts/run-contract.js';
import type { Services } from '../../../platform/context.js';
import { delay } from '../../actions/delay.js';
import { dryRunOutput } from '../../actions/dry-run-output.js';
import type { RunExecution } from './claim-run.js';
import { failStep } from './action-failure.js';
import { withStep } from './with-step.js';
import { readParams } from './read-params.js';
import { ifItHolds } from '../staging/only-if.js';

/** $1 = run id, $2 = index, $3 = seconds. Starts the delay. */
const beginStatement = defineStatement({
  name: 'begin_delay',
  text: /* sql */ `
    update run_actions set status = 'running', due_at = now() + make_interval(secs => $3)
    where run_id = $1 and index = $2 returning due_at`,
});
/** $1 = run id, $2 = index, $3 = output (jsonb). Ends the delay. */
const endStatement = defineStatement({
  name: 'end_delay',
  text: /* sql */ `
    update run_actions set status = 'succeeded', attempts = 1, output = $3::jsonb, finished_at = now() where run_id = $1 and index = $2`,
});

/**
 * Starts a delay, or ends it once due by the database's clock. Only the row holds its state, so a restarted workflow continues
 * it. A test run does not wait.
 */
export async function runDelay(services: Services, owner: RunExecution, index: number): Promise<ActionResult> {
  const result = await withStep(
    services,
    owner,
    index,
    ifItHolds(async (db, begun, step) => {
      const { seconds } = readParams(delay, begun, index);
      if (begun.is_test || step.due_at !== null) {
        const output = begun.is_test ? dryRunOutput(delay.label, { seconds }) : { waited_seconds: seconds };
        await run(db, endStatement, [begun.run_id, index, JSON.stringify(output)]);
        return { status: 'succeeded', error: null };
      }
      const [row] = await run<{ due_at: Date }>(db, beginStatement, [begun.run_id, index, seconds]);
      return {
        status: 'running',
        error: null,
        wait: { msLeft: seconds * 1_000, until: (row as { due_at: Date }).due_at.toISOString() },
      };
    }),
  ).catch((thrown: unknown) => failStep(services, owner, index, thrown));
  services.notifyRelay();
  return result;
}
