import cluster from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Serving } from './http/serving/serving.js';
import { loadConfig, shutdownDelayMs } from './platform/config.js';
import { listen } from './platform/listen.js';
import { createDatabaseGauges } from './platform/telemetry/gauges/collect-gauges.js';
import { LogStream } from './platform/telemetry/log-stream.js';
import { createLogger } from './platform/telemetry/log.js';
import { countDroppedLogLines } from './platform/telemetry/metrics.js';
import { createOpsServer } from './platform/telemetry/ops-server.js';

const config = loadConfig();
const stdout = new LogStream(1, countDroppedLogLines);
const log = createLogger(config, 'api', stdout);

/** Loads what this process runs and nothing else: a parent of several has no use for the application. */
const startServing = async (): Promise<Serving> =>
  config.API_PROCESSES === 1
    ? (await import('./http/serving/serve.js')).serve(config, log)
    : (await import('./http/serving/parent.js')).serveByChildren(config, log, stdout);

/** Serves until a signal: readiness goes first, and requests are still accepted for SHUTDOWN_DELAY_SECONDS; then what serves drains. */
async function run(): Promise<void> {
  const gauges = createDatabaseGauges(config.DATABASE_URL);
  const serving = await startServing();
  let stopping = false;
  const ops = createOpsServer(async () => {
    const { ready, checks } = await serving.readiness();
    return { ready: ready && !stopping, draining: stopping, checks };
  }, [serving.metrics, gauges.collect]);
  const stop = async (signal: string): Promise<void> => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
    await sleep(shutdownDelayMs(config));
    await serving.drain();
    ops.close();
    ops.closeAllConnections();
    await gauges.close();
    process.exit(0);
  };
  process.on('SIGTERM', () => void stop('SIGTERM'));
  process.on('SIGINT', () => void stop('SIGINT'));
  await listen(ops, config, 'METRICS_PORT');
  log.info({ port: serving.port, processes: config.API_PROCESSES }, 'listening');
  process.send?.({ type: 'ready', port: serving.port });
}

await (cluster.isWorker ? (await import('./http/serving/child.js')).serveAsChild(config, log) : run());
