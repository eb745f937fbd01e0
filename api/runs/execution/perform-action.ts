import type { Knex } from 'knex';
import type { ActionResult } from '../../../workflows/contract.js';
import type { Services } from '../../core/context.js';
import { ActionRefused } from '../../actions/action-refused.js';
import type { Effect } from '../../actions/action-type.js';
import { actionTypes } from '../../actions/registry.js';
import { failStep } from './action-failure.js';
import type { RunExecution } from './claim-run.js';
import { withStep } from './with-step.js';
import { creatorContext } from './load-run.js';
import { markDone } from './mark-done.js';
import { readParams } from './read-params.js';
import { recordDryRun, dryRun } from './dry-run.js';

/**
 * Performs one action, which is then marked done: the effect, its key and the mark are one transaction, so they happen once (R4).
 * @throws ActionRefused, or what the verb throws; the transaction is then taken back
 */
const act = (services: Services, carrier: RunExecution, index: number): Promise<ActionResult> =>
  withStep(services, carrier, index, async (db, begun, step) => {
    const type = actionTypes[step.type];
    if (!type) throw new ActionRefused({ code: 'action_unavailable', message: `There is no action ${step.type}` });
    const ctx = creatorContext(services, begun, begun.creator);
    const params = readParams(type, begun, index);
    const perform = (db: Knex): Promise<Effect> => type.perform({ ...ctx, db }, params, begun);
    if (!begun.is_test) return { status: 'succeeded', error: null, effect: await perform(db) };
    await dryRun(db, async (inner) => markDone(inner, begun, index, await perform(inner)));
    await recordDryRun(db, begun, index, type.label, params);
    return { status: 'succeeded', error: null };
  });

/**
 * One action of a run, at least once asked, at most once done; the last one ends the run in the same transaction. A refusal is
 * recorded as the action's failure and never hidden by what follows (contract, section 3); only an unreachable database is thrown,
 * for the workflow to try again.
 */
export async function performAction(services: Services, carrier: RunExecution, index: number): Promise<ActionResult> {
  const result = await act(services, carrier, index).catch((thrown: unknown) => failStep(services, carrier, index, thrown));
  services.notifyRelay();
  return result;
}
