import { run } from '../../../../db/statement.js';
import { callerJson, type Services, serviceContext } from '../../../platform/context.js';
import { countPlans } from '../../../platform/telemetry/metrics.js';
import { BATCH, expirePlansStatement } from './watch-plan.sql.js';

/** Expires plans past their deadline; with `actionId` this one only. Returns their number. May be repeated. */
export async function expirePlans(services: Services, actionId: string | null = null): Promise<number> {
  const caller = JSON.stringify(callerJson(serviceContext(services, 'plans')));
  let total = 0;
  for (let count = BATCH; count === BATCH; total += count) {
    const [row] = await run<{ sources: string[] }>(services.db, expirePlansStatement, [caller, actionId]);
    const sources = row?.sources ?? [];
    for (const source of sources) countPlans(source, 'expired');
    count = sources.length;
  }
  if (total > 0) services.notifyRelay();
  return total;
}
