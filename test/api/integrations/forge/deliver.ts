import { v7 as uuidv7 } from 'uuid';
import { applyDelivery, type Origin } from '../../../../api/integrations/forge/deliveries/apply-delivery.js';
import type { Context } from '../../../../api/platform/context.js';
import { sign } from '../../../../api/integrations/forge/deliveries/signature.js';
import { deliveries, type DeliveryName, withFields } from '../../../../scripts/fixtures/forge-payloads.js';
import type { Answer, TestApp } from '../../../support/app.js';

export interface DeliveryOptions {
  event?: string | null;
  /** null sends none. */
  id?: string | null;
  secret?: string;
  /** The operator's, unless it is that of a binding. */
  path?: string;
  headers?: Record<string, string>;
}

/** Posts bytes as a forge does: event, delivery id and signature in the headers. */
export function post(
  app: TestApp,
  bytes: string | Buffer,
  { event = 'push', id = uuidv7(), secret, path = '/api/forge/webhooks', headers }: DeliveryOptions = {},
) {
  const raw = Buffer.from(bytes);
  return app.as().post(path, undefined, {
    raw,
    headers: {
      ...(event === null ? {} : { 'x-forge-event': event }),
      ...(id === null ? {} : { 'x-forge-delivery': id }),
      'x-hub-signature-256': sign(raw, secret ?? (app.services.config.FORGE_WEBHOOK_SECRET as string)),
      ...headers,
    },
  });
}

/** Posts one of the named real deliveries, with single fields changed. */
export const send = (
  app: TestApp,
  name: DeliveryName,
  patch: Record<string, unknown> = {},
  sent: DeliveryOptions = {},
): Promise<Answer> =>
  post(app, JSON.stringify(withFields(deliveries[name].body, patch)), { event: deliveries[name].event, ...sent });

interface Event {
  subject: string;
  event_id: string;
  team_id: string;
  project_id: string | null;
  correlation_id: string;
  payload: Record<string, unknown> & { linked_task_ids: string[]; task: { task_id: string; status: string } | null };
}

/** Processes every waiting delivery like the relay: oldest first, each in one transaction with its work. */
export async function relay(app: TestApp): Promise<void> {
  const { services } = app;
  for (;;) {
    const found = await services.db.transaction(async (db) => {
      const { rows } = await db.raw(
        `delete from outbox where outbox_id in (select outbox_id from outbox where kind like 'forge.%' order by outbox_id limit 1
          for update skip locked) returning *`,
      );
      const [row] = rows as { kind: Origin; payload: { receipt_id: string }; correlation_id: string }[];
      if (!row) return false;
      await applyDelivery(buildContext(app, { db, correlationId: row.correlation_id }), row.payload.receipt_id, row.kind);
      return true;
    });
    if (!found) return;
  }
}

/** The relay's own context. */
export const buildContext = (app: TestApp, over: Partial<Context> = {}): Context => ({
  ...app.services,
  actor: { type: 'system', name: 'forge' },
  requestId: uuidv7(),
  correlationId: uuidv7(),
  ip: null,
  userAgent: null,
  ...over,
});

/** Events in the outbox that came of a delivery, one for each team that heard it. */
export async function findEvents(app: TestApp, id: string): Promise<Event[]> {
  const receipt = await findReceipt(app, id);
  return app.services.db('outbox').where({ kind: 'event' }).whereRaw("payload->>'receipt_id' = ?", [receipt?.receipt_id]);
}

export const findReceipt = (app: TestApp, id: string) =>
  app.services.db('forge_deliveries').where({ delivery_id: id }).whereRaw("outcome is distinct from 'duplicate'").first();
