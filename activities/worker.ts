import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { startSealer } from '../api/audit/sealer.js';
import { createBell } from '../api/core/bell.js';
import { loadConfig } from '../api/core/config.js';
import type { Services } from '../api/core/context.js';
import { createLogger } from '../api/core/log.js';
import { createOpsServer } from '../api/core/ops-server.js';
import { openDatabase } from '../db/connection.js';
import { listenForBell } from './bell-listener.js';
import { startLoop } from './loop.js';
import { OutboxRelay } from './outbox-relay.js';
import { reconcileRuns } from './reconciler.js';
import { linkTemporal } from './temporal-link.js';

const HEARTBEAT_MS = 5_000;
const RECONCILE_MS = 60_000;
const SWEEP_MS = 1_000;

const config = loadConfig();
const log = createLogger(config, 'worker');
Runtime.install({
  logger: new DefaultLogger('INFO', ({ level, message, meta }) => {
    const at = level === 'WARN' ? 'warn' : level === 'ERROR' ? 'error' : 'debug';
    log[at](meta ?? {}, message);
  }),
  shutdownSignals: [],
});

const db = openDatabase({ url: config.DATABASE_URL, poolSize: config.DATABASE_POOL_SIZE, name: 'assent-worker' });
// The relay and the sealer have connections of their own: a burst of actions must not hold them up, nor they the actions.
const relayDb = openDatabase({ url: config.DATABASE_URL, poolSize: 4, name: 'assent-relay' });
const sealerDb = openDatabase({ url: config.DATABASE_URL, poolSize: 2, name: 'assent-sealer' });
const services: Services = { db, config, log, ring: createBell(relayDb) };

const link = linkTemporal(services, {
  localActivitySlots: config.DATABASE_POOL_SIZE,
  onPolling() {
    log.info('polling');
    relay.wake();
    reconciler.wake();
    void beat().then(() => process.send?.({ type: 'ready' }));
  },
});
const outbox = new OutboxRelay({ ...services, db: relayDb }, link.dispatcher);
const relay = startLoop('relay', () => outbox.pass(), SWEEP_MS, log);
const sealer = startSealer({ db: sealerDb, log });
const bell = listenForBell(services, () => {
  relay.wake();
  sealer.wake();
});
const reconciler = startLoop(
  'reconciler',
  async () => {
    const client = link.client();
    if (client) await reconcileRuns(services, client);
    return 0;
  },
  RECONCILE_MS,
  log,
);

/** Tells the API, through the database, that this worker lives and whether it reaches Temporal (J5). */
async function beat(): Promise<void> {
  const row = {
    process: 'worker',
    seen_at: relayDb.fn.now(),
    details: JSON.stringify({ temporal: link.client() !== undefined, pid: process.pid }),
  };
  await relayDb('heartbeats').insert(row).onConflict('process').merge();
}
const heart = setInterval(() => void beat().catch((error: unknown) => log.warn({ err: error }, 'no heartbeat')), HEARTBEAT_MS);

const ops = createOpsServer(async () => {
  const temporal = link.client() !== undefined;
  return { ready: temporal, checks: { temporal: { ok: temporal } } };
});
ops.listen(config.WORKER_METRICS_PORT, config.BIND_ADDRESS);
await once(ops, 'listening');
log.info({ temporal: config.TEMPORAL_ADDRESS }, 'worker started');

let stopping = false;
/** First nothing new is taken from Temporal, then the relay and the sealer finish their pass, then the pools close. */
async function stop(signal: string): Promise<void> {
  if (stopping) return;
  stopping = true;
  log.info({ signal }, 'stopping');
  clearInterval(heart);
  await Promise.race([link.stop(), sleep(20_000)]);
  await Promise.all([relay.stop(), reconciler.stop(), bell.stop()]);
  await sealer.stop();
  ops.close();
  await Promise.all([db.destroy(), relayDb.destroy(), sealerDb.destroy()]);
  process.exit(0);
}
process.on('SIGTERM', () => void stop('SIGTERM'));
process.on('SIGINT', () => void stop('SIGINT'));
