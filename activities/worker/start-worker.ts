import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { smtpTransport } from '../../api/platform/mail/smtp.js';
import { queueDigests } from '../../api/platform/mail/mail-budget.js';
import { mailNotices } from '../../api/work/notifications/mail-notices.js';
import { writeNotices } from '../../api/work/notifications/write-notices.js';
import { sendMails } from '../../api/platform/mail/send-mails.js';
import { type Sealer, startSealer } from '../../api/audit/sealer.js';
import { AuditStream } from '../../api/audit/stream/stream-entries.js';
import type { Config } from '../../api/platform/config.js';
import type { Services } from '../../api/platform/context.js';
import type { Logger } from '../../api/platform/telemetry/log.js';
import { watchPool } from '../../api/platform/telemetry/metrics.js';
import type { Tracer } from '../../api/platform/telemetry/tracing/tracer.js';
import { openDatabase, SERVING } from '../../db/connection.js';
import { poolUse } from '../../db/knex-internals.js';
import { startHeartbeat } from './heartbeat.js';
import { startIndexer } from './index-loop.js';
import { listenForOutbox } from './outbox-listener.js';
import { openExportDatabase } from '../bulk.js';
import { throttleTrailing, type Loop, startLoop } from './loop.js';
import { OutboxRelay } from './outbox-relay.js';
import { startReconciler } from './reconcile-loop.js';
import { startTemporalConnection } from './temporal-connection.js';
import { startWebhooks } from './webhook-loop.js';

const POLL_MS = 1_000;
/** A due mail wakes the dispatcher; this interval expires old mails. */
const MAIL_POLL_MS = 30_000;
/** A change that concerns a person wakes the loop; this interval looks for notices whose email is due. */
const NOTICE_POLL_MS = 30_000;
/** Pause between two passes of the relay that only dropped events. */
const PAUSE_MS = 20;
/** Interval in ms that coalesces notifications of activities. */
const NOTIFY_INTERVAL_MS = 5;
/** Maximum wait in ms for running workflows during shutdown. */
const DRAIN_MS = 20_000;

export interface RunningWorker {
  /** True while Temporal answers. */
  isConnected: () => boolean;
  /**
   * Runs a full pass of the reconciler now; normally every ten minutes. Returns the number of runs, series, jobs and schedules restarted.
   */
  reconcile: () => Promise<number>;
  stop: () => Promise<void>;
}

/**
 * Starts the loop that polls and matches events and wakes the other loops for their rows. Continues at once after a full pass;
 * NOTIFY announces all other work. After a pass that only dropped events the next one waits briefly, so that events without a
 * subscriber are dropped in batches.
 */
function startRelay(
  outbox: OutboxRelay,
  others: { dispatch: Loop; deliveries: Loop; sealer: Sealer; indexer: Loop; notices: Loop; mails: Loop | undefined },
  log: Logger,
): Loop {
  const pass = async (): Promise<number> => {
    const due = await outbox.poll();
    if (due.unsealed) others.sealer.wake();
    if (due.unindexed) others.indexer.wake();
    if (due.unnoticed) others.notices.wake();
    if (due.dispatches) others.dispatch.wake();
    if (due.deliveries) others.deliveries.wake();
    if (due.mails) others.mails?.wake();
    const matched = due.events ? await outbox.match() : 0;
    if (outbox.hasMore(due, matched)) return 1;
    if (matched === 0 && due.dropped > 0) await sleep(PAUSE_MS);
    return 0;
  };
  return startLoop('relay', pass, POLL_MS, log);
}

/** Starts the loop that processes inbound deliveries; their events, and rows without a notification, are for the relay. */
function startDeliveries(outbox: OutboxRelay, wakeRelay: () => void, log: Logger): Loop {
  const deliver = async (): Promise<number> => {
    const handled = await outbox.deliver();
    if (handled > 0) wakeRelay();
    return handled;
  };
  return startLoop('deliveries', deliver, POLL_MS, log);
}

/** Starts the loop that sends emails, if there is a mail server. */
function startMails(services: Services): Loop | undefined {
  const smtp = smtpTransport(services.config);
  if (!smtp) return undefined;
  const pass = async (): Promise<number> => {
    await queueDigests(services);
    return sendMails(services, smtp.send);
  };
  const loop = startLoop('mails', pass, MAIL_POLL_MS, services.log);
  return {
    wake: loop.wake,
    async stop() {
      await loop.stop();
      smtp.close();
    },
  };
}

/** Starts the loop that writes notices, and queues the emails that list those left unread. */
function startNotices(services: Services): Loop {
  const pass = async (): Promise<number> => {
    const more = await writeNotices(services);
    await mailNotices(services);
    return more;
  };
  return startLoop('notices', pass, NOTICE_POLL_MS, services.log);
}

/** Starts the loop that sends audit entries to a log sink, if one is set, on a pool of its own, which ends with it. */
function startAuditStream(db: Knex | undefined, { config, log }: Services): Loop | undefined {
  if (!db) return undefined;
  const stream = new AuditStream(db, log, config);
  const loop = startLoop('audit-stream', () => stream.pass(), POLL_MS, log);
  return {
    wake: loop.wake,
    async stop() {
      const ended = loop.stop();
      await stream.close();
      await ended;
      await db.destroy();
    },
  };
}

/** Returns what wakes the relay of this process, and the dispatcher for rows for Temporal; both start later. */
function createNotifier(relay: () => Loop, dispatch: () => Loop): Services['notifyRelay'] {
  const wakeRelay = throttleTrailing(() => relay().wake(), NOTIFY_INTERVAL_MS);
  return (what) => {
    if (what === 'dispatch') dispatch().wake();
    wakeRelay();
  };
}

/**
 * Starts everything of the worker process: Temporal workers, outbox relay, sealer, reconciler, heartbeat. Calls `onReady` when
 * Temporal lists this worker as a poller, and again after each reconnection.
 */
export function startWorker(config: Config, log: Logger, onReady: () => void, tracer?: Tracer): RunningWorker {
  const open = (name: string, poolSize: number, byIndexes = false) => {
    const pool = openDatabase({ url: config.DATABASE_URL, poolSize, name, byIndexes, ...SERVING });
    watchPool(name, () => poolUse(pool));
    return pool;
  };
  const db = open('assent-worker', config.DATABASE_POOL_SIZE);
  // Relay, sealer and indexer have their own connections, so that they and bursts of actions do not delay each other.
  const relayDb = open('assent-relay', 4);
  const sealerDb = open('assent-sealer', 2);
  const exportDb = openExportDatabase(config.DATABASE_URL);
  watchPool('assent-export', () => poolUse(exportDb));
  // The relay is in this process, so activities notify it without PostgreSQL.
  const notifyRelay = createNotifier(
    () => relay,
    () => dispatch,
  );
  const services: Services = { db, config, log, tracer, notifyRelay };

  const link = startTemporalConnection(services, {
    localActivitySlots: config.DATABASE_POOL_SIZE,
    exportDb,
    onPolling() {
      dispatch.wake();
      reconciler.connected();
      heart.announce();
    },
    onReachable(isReachable) {
      // The alert follows the heartbeat, and what waited for Temporal must not wait for its next attempt too.
      heart.beat();
      if (isReachable)
        void outbox.retryNow().then(dispatch.wake, (error: unknown) => log.warn({ err: error }, 'not retried yet'));
    },
  });
  const heart = startHeartbeat(relayDb, log, link.isReachable, onReady);
  const webhooks = startWebhooks({ ...services, db: open('assent-webhooks', 2, true) });
  const relayServices: Services = { ...services, db: relayDb, wakeWebhooks: webhooks.deliver };
  const outbox = new OutboxRelay(relayServices, link.dispatchers);
  // Separate loops: an unresponsive Temporal or a long delivery delays no events.
  const dispatch = startLoop('dispatch', () => outbox.dispatch(), POLL_MS, log);
  const deliveries = startDeliveries(outbox, () => relay.wake(), log);
  const mails = startMails(relayServices);
  const sealer = startSealer({ db: sealerDb, log });
  const notices = startNotices(relayServices);
  const indexer = startIndexer(open('assent-indexer', 1), log);
  const auditStream = startAuditStream(config.AUDIT_OTLP_ENDPOINT ? open('assent-audit-stream', 1) : undefined, services);
  const relay = startRelay(outbox, { dispatch, deliveries, sealer, indexer, notices, mails }, log);
  const listener = listenForOutbox(services, (dispatches) => {
    for (const loop of dispatches ? [dispatch, relay, webhooks] : [relay, webhooks]) loop.wake();
  });
  const reconciler = startReconciler((kind) => link.reconcile(services, kind), log);

  return {
    isConnected: link.isReachable,
    reconcile: () => link.reconcile(services, 'full'),
    /** Stops taking work from Temporal, then lets the relay and the sealer finish their pass, then closes the pools. */
    async stop() {
      heart.stop();
      await Promise.race([link.stop(), sleep(DRAIN_MS, undefined, { ref: false })]);
      await Promise.all([relay, deliveries, dispatch, notices, mails, reconciler, listener].map(async (loop) => loop?.stop()));
      await outbox.settled();
      await Promise.all([webhooks.stop(), sealer.stop(), indexer.stop(), auditStream?.stop()]);
      await Promise.all([db.destroy(), relayDb.destroy(), sealerDb.destroy(), exportDb.destroy()]);
    },
  };
}
