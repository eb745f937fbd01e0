import type { Services } from '../../api/platform/context.js';
import { WebhookDispatcher } from '../../api/integrations/webhooks/delivery/dispatcher.js';
import type { CausedEvent } from '../../api/integrations/webhooks/delivery/delivery-traces.js';
import type { Endpoint } from '../../api/integrations/webhooks/delivery/outcomes.js';
import { startLoop } from './loop.js';

const POLL_MS = 1_000;
/** Beyond the time-out of the requests in progress, for the record of their outcomes. */
const DRAIN_MARGIN_MS = 1_000;

export interface WebhookLoop {
  /** Delivers these events, and whatever else is due, to these endpoints at once. */
  deliver: (endpoints: readonly Endpoint[], events: readonly CausedEvent[]) => void;
  /** Another process may have added deliveries. */
  wake: () => void;
  /** Waits for the requests in progress, then closes the pool. */
  stop: () => Promise<void>;
}

/** Starts the loop that sends outbound webhooks, on a pool of its own (`services.db`), which ends with it. */
export function startWebhooks(services: Services): WebhookLoop {
  const { config, db, log } = services;
  const dispatcher = new WebhookDispatcher(services, () => loop.wake());
  const loop = startLoop('webhooks', () => dispatcher.pass(), POLL_MS, log);
  return {
    deliver(endpoints, events) {
      dispatcher.add(endpoints, events);
      loop.wake();
    },
    wake() {
      dispatcher.look();
      loop.wake();
    },
    async stop() {
      await loop.stop();
      await dispatcher.drain(config.WEBHOOK_TIMEOUT_SECONDS * 1_000 + DRAIN_MARGIN_MS);
      await db.destroy();
    },
  };
}
