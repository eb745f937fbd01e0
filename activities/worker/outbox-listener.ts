import pg from 'pg';
import { OUTBOX_CHANNEL } from '../../api/core/relay-notifier.js';
import type { Services } from '../../api/core/context.js';

const RETRY_MS = 1_000;

/**
 * Calls `onBell` for every ring, over a connection of its own that is opened again when it breaks. A ring may be lost with the
 * connection; whoever listens sweeps every second as well.
 */
export function listenForOutbox({ config, log }: Services, onBell: () => void): { stop: () => Promise<void> } {
  let client: pg.Client | undefined;
  let stopped = false;
  const connect = async (): Promise<void> => {
    if (stopped) return;
    const next = new pg.Client({
      connectionString: config.DATABASE_URL,
      application_name: 'assent-bell',
      connectionTimeoutMillis: 2_000,
      keepAlive: true,
    });
    const again = (error?: unknown) => {
      if (client !== next || stopped) return;
      client = undefined;
      log.warn({ err: error }, 'the bell’s connection broke; opening it again');
      void next.end().catch(() => undefined);
      setTimeout(() => void connect(), RETRY_MS).unref();
    };
    client = next;
    next.on('notification', onBell);
    next.on('error', again);
    next.on('end', again);
    try {
      await next.connect();
      await next.query(`listen ${OUTBOX_CHANNEL}`);
      onBell();
    } catch (error) {
      again(error);
    }
  };
  void connect();
  return {
    async stop() {
      stopped = true;
      await client?.end().catch(() => undefined);
    },
  };
}
