import cluster, { type Worker } from 'node:cluster';
import type { Config } from '../../platform/config.js';
import type { Logger } from '../../platform/telemetry/log.js';
import { metrics } from '../../platform/telemetry/metrics.js';
import type { AskChild } from './parent.js';
import { serve } from './serve.js';

/**
 * Serves the API in one of several processes. Only the parent decides when it ends: a terminal sends its signals to both. It ends by
 * itself when the parent is gone.
 */
export async function serveAsChild(config: Config, log: Logger): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => undefined);
  const { id } = cluster.worker as Worker;
  metrics.setDefaultLabels({ process: process.env['API_PROCESS'] ?? String(id) });
  const serving = await serve(config, log);
  const answer = async (asked: AskChild): Promise<void> => {
    if (asked.ask === 'metrics') process.send?.({ nth: asked.nth, metrics: await metrics.getMetricsAsJSON() });
    if (asked.ask === 'life') process.send?.({ nth: asked.nth, metrics: [] });
    if (asked.ask !== 'drain') return;
    await serving.drain();
    process.exit(0);
  };
  process.on('message', (asked: AskChild) => void answer(asked));
}
