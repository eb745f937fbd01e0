import { Webhook } from 'standardwebhooks';
import { startWebhooks } from '../../../../activities/worker/webhook-loop.js';
import type { Services } from '../../../../api/platform/context.js';
import { openDatabase } from '../../../../db/connection.js';
import { openRelay } from '../../../outbox/support.js';
import type { TestApp } from '../../../support/app.js';
import type { Received } from '../../../support/receiver.js';
import { until } from '../../../support/worker.js';

/** Settings for tests: this machine may receive, and the timetable takes no hours. */
export const QUICK = {
  WEBHOOK_ALLOWED_HOSTS: '127.0.0.1,localhost',
  WEBHOOK_RETRY_SECONDS: '0,0.05,0.05,0.05,0.05,0.05,0.05,0.05',
  WEBHOOK_TIMEOUT_SECONDS: '4',
};

export interface Delivery {
  /** Fans out what was written, then wakes the dispatcher as the relay of the worker does. */
  fanOut: () => Promise<void>;
  stop: () => Promise<void>;
}

/** The dispatcher as the worker has it, on a pool of its own. */
export function startDelivery(app: TestApp, settings: Partial<Services['config']> = {}): Delivery {
  const config = { ...app.services.config, ...settings };
  const db = openDatabase({
    url: app.database.url,
    poolSize: 2,
    name: 'assent-webhooks',
    byIndexes: true,
    acquireTimeoutMs: 30_000,
  });
  const loop = startWebhooks({ ...app.services, config, db });
  return {
    async fanOut() {
      await fanOut(app);
      loop.wake();
    },
    stop: loop.stop,
  };
}

/** Matches every event with its subscribers, without delivering anything. */
export async function fanOut(app: TestApp): Promise<void> {
  const relay = openRelay(app);
  await relay.drain();
  await relay.close();
}

/** What a receiver's own library makes of a request. @throws when the signature is wrong */
export const verify = (secret: string, { body, headers }: Received) =>
  new Webhook(secret).verify(body, headers as Record<string, string>) as {
    type: string;
    timestamp: string;
    data: Record<string, unknown>;
  };

export const getId = ({ headers }: Received): string => headers['webhook-id'] as string;

export const readQueue = (app: TestApp, { webhook_id }: { webhook_id: string }) =>
  app.services.db('webhook_queue').where({ webhook_id }).orderBy('event_id');
export const readEnded = (app: TestApp, { webhook_id }: { webhook_id: string }) =>
  app.services.db('webhook_deliveries').where({ webhook_id }).orderBy('event_id');
export const summarizeHealth = (app: TestApp, { webhook_id }: { webhook_id: string }) =>
  app.services.db('webhook_health').where({ webhook_id }).first();

/** Waits until nothing is left to send to an endpoint. */
export const untilEmpty = (app: TestApp, webhook: { webhook_id: string }) =>
  until(async () => (await readQueue(app, webhook)).length === 0);
