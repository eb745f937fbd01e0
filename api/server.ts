import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase, SERVING } from '../db/connection.js';
import { poolUse } from '../db/knex-internals.js';
import { createRelayNotifier } from './platform/outbox/relay-notifier.js';
import { loadConfig, shutdownDelayMs } from './platform/config.js';
import { refuseUnknownSchema } from './platform/database/refuse-schema.js';
import { createLogger } from './platform/telemetry/log.js';
import { createApp } from './http/app.js';
import { createDatabaseGauges } from './platform/telemetry/gauges/collect-gauges.js';
import { watchPool } from './platform/telemetry/metrics.js';
import { startTracing } from './platform/telemetry/tracing/start-tracing.js';
import { createOpsServer, readiness } from './platform/telemetry/ops-server.js';
import { requestTimeoutMs } from './platform/endpoint/read-upload.js';
import { stopWaitingRunners } from './automation/runners/claim/job-listener.js';
import { answerRawErrors } from './http/raw-errors.js';

/** Requests under way may take this long after the stop signal, ms. */
const DRAIN_MS = 10_000;

const listen = async (server: Server, port: number, host: string): Promise<number> => {
  server.listen(port, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

const config = loadConfig();
const log = createLogger(config, 'api');
const db = openDatabase({ url: config.DATABASE_URL, poolSize: config.DATABASE_POOL_SIZE, name: 'assent-api', ...SERVING });
await refuseUnknownSchema(db, log);
const notifyDb = openDatabase({ url: config.DATABASE_URL, poolSize: 1, name: 'assent-api-notify', ...SERVING });

const tracer = await startTracing(config, 'api', log);
const app = createApp({ db, config, log, tracer, notifyRelay: createRelayNotifier(notifyDb) });
const handle = app.callback();
let stopping = false;
let draining = false;
const underWay = new Set<ServerResponse>();
const server = createServer(
  { headersTimeout: 10_000, requestTimeout: requestTimeoutMs(config), keepAliveTimeout: 65_000, maxHeaderSize: 16_384 },
  (request, response) => {
    underWay.add(response);
    response.once('close', () => underWay.delete(response));
    response.shouldKeepAlive &&= !draining;
    void handle(request, response);
  },
);
answerRawErrors(server);
watchPool('assent-api', () => poolUse(db));
const gauges = createDatabaseGauges(config.DATABASE_URL);
const ops = createOpsServer(async () => {
  const { ready, checks } = await readiness(db);
  return { ready: ready && !stopping, draining: stopping, checks };
}, [gauges.collect]);

/**
 * Readiness goes first, and requests are still accepted for SHUTDOWN_DELAY_SECONDS; then no new connections, then what is under way ends, then the pools close. Every answer from now on says
 * that it is the last one on its connection: a client that goes on asking would keep us until the deadline, and be cut off by it.
 */
async function stop(signal: string): Promise<void> {
  if (stopping) return;
  stopping = true;
  log.info({ signal }, 'stopping');
  await sleep(shutdownDelayMs(config));
  draining = true;
  const closed = once(server, 'close');
  server.close();
  for (const response of underWay) response.shouldKeepAlive = false;
  stopWaitingRunners();
  // Also those whose answer had begun before the signal, and so could not say it.
  const idle = setInterval(() => server.closeIdleConnections(), 100);
  const deadline = setTimeout(() => {
    log.warn({ requests: underWay.size }, 'the time to drain is up: cutting off what is left');
    server.closeAllConnections();
  }, DRAIN_MS);
  await closed;
  clearTimeout(deadline);
  clearInterval(idle);
  ops.close();
  ops.closeAllConnections();
  await Promise.all([db.destroy(), notifyDb.destroy(), gauges.close(), tracer?.stop()]);
  process.exit(0);
}
process.on('SIGTERM', () => void stop('SIGTERM'));
process.on('SIGINT', () => void stop('SIGINT'));

await listen(ops, config.METRICS_PORT, config.BIND_ADDRESS);
const port = await listen(server, config.PORT, config.BIND_ADDRESS);
log.info({ port }, 'listening');
process.send?.({ type: 'ready', port });
