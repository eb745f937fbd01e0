import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { openDatabase, SERVING } from '../../../db/connection.js';
import { poolUse } from '../../../db/knex-internals.js';
import { stopWaitingRequests } from '../../gate/requests/read/request-listener.js';
import { stopLiveStreams } from '../../identity/live/live-hub.js';
import { stopWaitingRunners } from '../../automation/runners/claim/job-listener.js';
import type { Config } from '../../platform/config.js';
import { refuseUnknownSchema } from '../../platform/database/refuse-schema.js';
import { requestTimeoutMs } from '../../platform/endpoint/read-upload.js';
import { listen } from '../../platform/listen.js';
import { createRelayNotifier } from '../../platform/outbox/relay-notifier.js';
import type { Logger } from '../../platform/telemetry/log.js';
import { watchPool } from '../../platform/telemetry/metrics.js';
import { ownMetrics, readiness } from '../../platform/telemetry/ops-server.js';
import { startTracing } from '../../platform/telemetry/tracing/start-tracing.js';
import { createApp } from '../app.js';
import { answerRawErrors } from '../raw-errors.js';
import { KEEP_ALIVE_MS, type Serving } from './serving.js';

/** Requests under way may take this long after the stop signal, ms. */
const DRAIN_MS = 10_000;

/** Serves the API in this process. Ends the process if it cannot run on the schema of the database. */
export async function serve(config: Config, log: Logger): Promise<Serving> {
  const db = openDatabase({ url: config.DATABASE_URL, poolSize: config.DATABASE_POOL_SIZE, name: 'assent-api', ...SERVING });
  await refuseUnknownSchema(db, log);
  const notifyDb = openDatabase({ url: config.DATABASE_URL, poolSize: 1, name: 'assent-api-notify', ...SERVING });
  const tracer = await startTracing(config, 'api', log);
  const handle = createApp({ db, config, log, tracer, notifyRelay: createRelayNotifier(notifyDb) }).callback();
  let draining = false;
  const underWay = new Set<ServerResponse>();
  const server = createServer(
    { headersTimeout: 10_000, requestTimeout: requestTimeoutMs(config), keepAliveTimeout: KEEP_ALIVE_MS, maxHeaderSize: 16_384 },
    (request, response) => {
      underWay.add(response);
      response.once('close', () => underWay.delete(response));
      response.shouldKeepAlive &&= !draining;
      void handle(request, response);
    },
  );
  answerRawErrors(server);
  watchPool('assent-api', () => poolUse(db));

  /** Every answer from now on says that it is the last one on its connection: a client that goes on asking would keep us until the deadline, and be cut off by it. */
  const drain = async (): Promise<void> => {
    draining = true;
    const closed = once(server, 'close');
    server.close();
    for (const response of underWay) response.shouldKeepAlive = false;
    stopWaitingRunners();
    stopWaitingRequests();
    stopLiveStreams();
    // Also those whose answer had begun before the signal, and so could not say it.
    const idle = setInterval(() => server.closeIdleConnections(), 100);
    const deadline = setTimeout(() => {
      log.warn({ requests: underWay.size }, 'the time to drain is up: cutting off what is left');
      server.closeAllConnections();
    }, DRAIN_MS);
    await closed;
    clearTimeout(deadline);
    clearInterval(idle);
    await Promise.all([db.destroy(), notifyDb.destroy(), tracer?.stop()]);
  };
  const port = await listen(server, config, 'PORT');
  return { port, readiness: () => readiness(db), metrics: ownMetrics, drain };
}
