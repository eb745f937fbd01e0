import type { Client } from '@temporalio/client';
import type { Services } from '../../api/platform/context.js';
import type { ReconcilingDispatcher } from '../process.js';
import { ensureSchedules } from '../schedules.js';
import type { PassKind } from './reconcile-loop.js';

/**
 * Reconciles each kind in turn, then the Schedules of the maintenance jobs; a failure does not stop the others. Returns the number restarted.
 * @throws AggregateError with all failures
 */
export async function reconcileAll(
  client: Client,
  dispatchers: readonly ReconcilingDispatcher[],
  services: Services,
  pass: PassKind,
): Promise<number> {
  const { MAINTENANCE_SCHEDULES, TASK_QUEUE_PREFIX } = services.config;
  let restarted = 0;
  const errors: unknown[] = [];
  const attempt = async (work: () => Promise<number>): Promise<void> => {
    try {
      restarted += await work();
    } catch (error) {
      errors.push(error);
    }
  };
  for (const dispatcher of dispatchers) await attempt(() => dispatcher.reconcile(services, pass));
  if (pass !== 'brief' && MAINTENANCE_SCHEDULES === 'create')
    await attempt(() => ensureSchedules(client, TASK_QUEUE_PREFIX).then(() => 0));
  if (errors.length > 0) throw new AggregateError(errors, 'reconciliation with Temporal is incomplete');
  return restarted;
}
