import { DefaultLogger } from '@temporalio/worker';
import { publishKey, signingKey } from '../api/audit/signing-keys.js';
import { createDatabaseGauges } from '../api/platform/telemetry/gauges/collect-gauges.js';
import { loadConfig } from '../api/platform/config.js';
import { refuseUnknownSchema } from '../api/platform/database/refuse-schema.js';
import { listen } from '../api/platform/listen.js';
import { createLogger } from '../api/platform/telemetry/log.js';
import { createOpsServer, ownMetrics } from '../api/platform/telemetry/ops-server.js';
import { startTracing } from '../api/platform/telemetry/tracing/start-tracing.js';
import { openDatabase, SERVING } from '../db/connection.js';
import { installRuntime } from './worker/sdk-metrics.js';
import { startWorker } from './worker/start-worker.js';

const config = loadConfig();
const log = createLogger(config, 'worker');
const schemaDb = openDatabase({ url: config.DATABASE_URL, poolSize: 1, name: 'assent-worker-schema', ...SERVING });
await refuseUnknownSchema(schemaDb, log);

/** The SDK warns of this at each start; the queue `outbound` has no workflows on purpose. */
const EXPECTED = 'No workflows registered, not polling for workflow tasks';
const sdkMetrics = await installRuntime({
  logger: new DefaultLogger('INFO', ({ level, message, meta }) => {
    const isWarning = level === 'WARN' && message !== EXPECTED;
    const at = isWarning ? 'warn' : level === 'ERROR' ? 'error' : 'debug';
    // The log serializes errors under this name.
    const { error, ...rest } = meta ?? {};
    log[at](error === undefined ? rest : { ...rest, err: error as unknown }, message);
  }),
  shutdownSignals: [],
});

// Exports can be verified before the first checkpoint, which is up to an hour away.
await publishKey(config, signingKey(config)).catch((error: unknown) =>
  log.warn({ err: error }, 'The key of the audit log was not published'),
);

const tracer = await startTracing(config, 'worker', log);
const worker = startWorker(
  config,
  log,
  () => {
    log.info('polling');
    process.send?.({ type: 'ready' });
  },
  tracer,
);
const gauges = createDatabaseGauges(config.DATABASE_URL);
const ops = createOpsServer(
  async () => ({ ready: worker.isConnected(), checks: { temporal: { ok: worker.isConnected() } } }),
  [ownMetrics, gauges.collect, sdkMetrics],
);
await listen(ops, config, 'WORKER_METRICS_PORT');
log.info({ temporal: config.TEMPORAL_ADDRESS }, 'worker started');

let stopping = false;
async function stop(signal: string): Promise<void> {
  if (stopping) return;
  stopping = true;
  log.info({ signal }, 'stopping');
  await Promise.all([worker.stop(), gauges.close(), schemaDb.destroy()]);
  await tracer?.stop();
  ops.close();
  process.exit(0);
}
process.on('SIGTERM', () => void stop('SIGTERM'));
process.on('SIGINT', () => void stop('SIGINT'));
