import type { Knex } from 'knex';
import type { ActionResult } from '../../../../workflows/contracts/run-contract.js';
import type { Services } from '../../../platform/context.js';
import { ActionRefused } from '../../../gate/contract/action-refused.js';
import type { Effect } from '../../../gate/contract/action-type.js';
import { actionTypes } from '../../actions/registry.js';
import { failStep } from './action-failure.js';
import type { RunExecution } from './claim-run.js';
import { unlessChanged } from './unless-changed.js';
import { withStep } from './with-step.js';
import { creatorContext } from './load-run.js';
import { markDone } from './mark-done.js';
import { readParams } from './read-params.js';
import { ifItHolds } from '../staging/only-if.js';
import { dryRun } from '../../../platform/database/dry-run.js';
import { recordDryRun } from './dry-run.js';

/**
 * Performs one action and marks it as succeeded. The effect, its key and the mark share a transaction, so each action happens
 * once.
 * @throws ActionRefused, or what the operation throws; the transaction is then rolled back
 */
const act = (services: Services, owner: RunExecution, index: number): Promise<ActionResult> =>
  withStep(
    services,
    owner,
    index,
    ifItHolds(async (db, begun, step) => {
      const type = actionTypes[step.type];
      if (!type) throw new ActionRefused({ code: 'action_unavailable', message: `Unknown action ${step.type}` });
      const ctx = creatorContext(services, begun, begun.creator);
      const params = readParams(type, begun, index);
      const perform = (db: Knex): Promise<Effect> => type.perform({ ...ctx, db }, params, begun);
      if (!begun.is_test) {
        return unlessChanged({ ...services, db }, begun, step, async () => ({
          status: 'succeeded',
          error: null,
          effect: await perform(db),
        }));
      }
      await dryRun(db, async (inner) => markDone(inner, begun, index, await perform(inner)));
      await recordDryRun(db, begun, index, type.label, params);
      return { status: 'succeeded', error: null };
    }),
  );

/**
 * Performs one action at most once, however often it is asked; the last action ends the run in the same transaction. Records a
 * rejection as the action's failure (docs/decisions/automation.md#failures-stay-visible). Throws only if the database is unavailable, so
 * that the workflow retries.
 */
export async function performAction(services: Services, owner: RunExecution, index: number): Promise<ActionResult> {
  const result = await act(services, owner, index).catch((thrown: unknown) => failStep(services, owner, index, thrown));
  services.notifyRelay();
  return result;
}
