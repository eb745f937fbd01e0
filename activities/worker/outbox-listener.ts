import pg from 'pg';
import { DISPATCH, OUTBOX_CHANNEL } from '../../api/platform/outbox/relay-notifier.js';
import type { Services } from '../../api/platform/context.js';

const RETRY_MS = 1_000;

/**
 * Calls `onNotification` for every notification, with whether it is about rows for Temporal, on its own connection, which reconnects when it breaks. Notifications may be lost with
 * the connection, so listeners also poll every second.
 */
export function listenForOutbox(
  { config, log }: Services,
  onNotification: (dispatches: boolean) => void,
): { stop: () => Promise<void> } {
  let client: pg.Client | undefined;
  let stopped = false;
  let retry: NodeJS.Timeout | undefined;
  const connect = async (): Promise<void> => {
    if (stopped) return;
    const next = new pg.Client({
      connectionString: config.DATABASE_URL,
      application_name: 'assent-outbox-listener',
      connectionTimeoutMillis: 2_000,
      keepAlive: true,
    });
    const reconnect = (error?: unknown) => {
      if (client !== next || stopped) return;
      client = undefined;
      log.warn({ err: error }, 'outbox listener reconnecting');
      void next.end().catch(() => undefined);
      retry = setTimeout(() => void connect(), RETRY_MS).unref();
    };
    client = next;
    next.on('notification', ({ payload }) => onNotification(payload === DISPATCH));
    next.on('error', reconnect);
    next.on('end', reconnect);
    try {
      await next.connect();
      await next.query(`listen ${OUTBOX_CHANNEL}`);
      onNotification(true);
    } catch (error) {
      reconnect(error);
    }
  };
  void connect();
  return {
    async stop() {
      stopped = true;
      clearTimeout(retry);
      await client?.end().catch(() => undefined);
    },
  };
}
