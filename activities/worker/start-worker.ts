import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { smtpTransport } from '../../api/mail/smtp.js';
import { sendMails } from '../../api/mail/send-mails.js';
import { type Sealer, startSealer } from '../../api/audit/sealer.js';
import type { Config } from '../../api/core/config.js';
import type { Services } from '../../api/core/context.js';
import type { Logger } from '../../api/core/telemetry/log.js';
import { watchPool } from '../../api/core/telemetry/metrics.js';
import { openDatabase, SERVING } from '../../db/connection.js';
import { poolUse } from '../../db/knex-internals.js';
import { listenForOutbox } from './outbox-listener.js';
import { throttleTrailing, type Loop, startLoop } from './loop.js';
import { OutboxRelay } from './outbox-relay.js';
import { startReconciler } from './reconcile-loop.js';
import { startTemporalConnection } from './temporal-connection.js';

const HEARTBEAT_MS = 5_000;
const SWEEP_MS = 1_000;
/** What is due wakes the dispatcher; this ends the mails whose time has run out. */
const MAIL_SWEEP_MS = 30_000;
/** Between two passes of the relay when there were only events that arm nothing. */
const REST_MS = 20;
/** How long the rings of activities are gathered, ms. */
const RING_MS = 5;
/** Longest wait for workflows under way when stopping, ms. */
const DRAIN_MS = 20_000;

export interface RunningWorker {
  /** True while Temporal can be reached. */
  isConnected: () => boolean;
  /** Compares the rows with Temporal now; normally every ten minutes. Returns how many runs, series, jobs and schedules were restarted. */
  reconcile: () => Promise<number>;
  stop: () => Promise<void>;
}

/**
 * The loop that polls and matches events, and wakes the others for what is theirs. What a full pass left is worked on at once; whatever
 * else comes is announced by NOTIFY. After a pass that only dropped events the next one waits a moment, so that events without a
 * subscriber are dropped many at a time.
 */
function startRelay(
  outbox: OutboxRelay,
  others: { dispatch: Loop; deliveries: Loop; sealer: Sealer; mails: Loop | undefined },
  log: Logger,
): Loop {
  const pass = async (): Promise<number> => {
    const due = await outbox.poll();
    if (due.unsealed) others.sealer.wake();
    if (due.dispatches) others.dispatch.wake();
    if (due.deliveries) others.deliveries.wake();
    if (due.mails) others.mails?.wake();
    const matched = due.events ? await outbox.match() : 0;
    if (outbox.hasMore(due, matched)) return 1;
    if (matched === 0 && due.dropped > 0) await sleep(REST_MS);
    return 0;
  };
  return startLoop('relay', pass, SWEEP_MS, log);
}

/**
 * Everything the worker process does: Temporal worker, outbox relay, sealer, reconciler, heartbeat. `onReady` is called when
 * Temporal itself names this worker as a poller, again after each reconnection.
 */
export function startWorker(config: Config, log: Logger, onReady: () => void): RunningWorker {
  const open = (name: string, poolSize: number) => {
    const pool = openDatabase({ url: config.DATABASE_URL, poolSize, name, ...SERVING });
    watchPool(name, () => poolUse(pool));
    return pool;
  };
  const db = open('assent-worker', config.DATABASE_POOL_SIZE);
  // The relay and the sealer have connections of their own: a burst of actions must not hold them up, nor they the actions.
  const relayDb = open('assent-relay', 4);
  const sealerDb = open('assent-sealer', 2);
  // The relay is here: what an activity commits need not go through PostgreSQL to be heard.
  const services: Services = { db, config, log, notifyRelay: throttleTrailing(() => relay.wake(), RING_MS) };

  let isNews = false;
  // A row of its own for each worker: one that lives does not hide behind one that died, nor the other way round.
  const name = `worker:${randomUUID()}`;
  /**
   * Tells the API, through the database, that this worker lives and whether it reaches Temporal (J5), and then our starter that
   * it is ready. With the database away the next beat does both.
   */
  const beat = async (): Promise<void> => {
    const details = JSON.stringify({ temporal: link.client() !== undefined, pid: process.pid });
    await relayDb('heartbeats').insert({ process: name, seen_at: relayDb.fn.now(), details }).onConflict('process').merge();
    await relayDb('heartbeats').where('seen_at', '<', relayDb.raw("now() - interval '1 hour'")).delete();
    if (isNews) onReady();
    isNews = false;
  };
  const tryBeat = (): void => void beat().catch((error: unknown) => log.warn({ err: error }, 'no heartbeat'));
  const link = startTemporalConnection(services, {
    localActivitySlots: config.DATABASE_POOL_SIZE,
    onPolling() {
      dispatch.wake();
      reconciler.connected();
      isNews = true;
      tryBeat();
    },
  });
  const relayServices: Services = { ...services, db: relayDb };
  const outbox = new OutboxRelay(relayServices, link.dispatcher, { others: link.others });
  // Loops of their own: a Temporal that went silent holds up no event, and neither does a long delivery.
  const dispatch = startLoop('dispatch', () => outbox.dispatch(), SWEEP_MS, log);
  const deliver = async (): Promise<number> => {
    const handled = await outbox.deliver();
    // Its events are for the relay, and so are rows that were left without a notification.
    if (handled > 0) relay.wake();
    return handled;
  };
  const deliveries = startLoop('deliveries', deliver, SWEEP_MS, log);
  const smtp = smtpTransport(config);
  const mails = smtp && startLoop('mails', () => sendMails(relayServices, smtp.send), MAIL_SWEEP_MS, log);
  const sealer = startSealer({ db: sealerDb, log });
  const relay = startRelay(outbox, { dispatch, deliveries, sealer, mails }, log);
  const bell = listenForOutbox(services, relay.wake);
  const reconciler = startReconciler((isFirst) => link.reconcile(services, isFirst), log);
  const heart = setInterval(tryBeat, HEARTBEAT_MS);

  return {
    isConnected: () => link.client() !== undefined,
    reconcile: () => link.reconcile(services, false),
    /** First nothing new is taken from Temporal, then the relay and the sealer finish their pass, then the pools close. */
    async stop() {
      clearInterval(heart);
      await Promise.race([link.stop(), sleep(DRAIN_MS, undefined, { ref: false })]);
      await Promise.all([relay.stop(), deliveries.stop(), dispatch.stop(), mails?.stop(), reconciler.stop(), bell.stop()]);
      await outbox.settled();
      smtp?.close();
      await sealer.stop();
      await Promise.all([db.destroy(), relayDb.destroy(), sealerDb.destroy()]);
    },
  };
}
