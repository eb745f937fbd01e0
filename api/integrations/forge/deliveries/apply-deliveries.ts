import type { Knex } from 'knex';
import { defineStatement, run } from '../../../../db/statement.js';
import type { Context, Services } from '../../../platform/context.js';
import { applyDelivery, type Origin } from './apply-delivery.js';
import { isRowFailure, recordFailure } from '../../../platform/outbox/park-row.js';
import { newId } from '../../../platform/ids.js';

/** Deliveries per pass; more wait for the next. */
const DELIVERIES_PER_PASS = 100;

interface ClaimedRow extends Record<string, unknown> {
  outbox_id: number;
  kind: Origin;
  payload: { receipt_id: string };
  correlation_id: string;
}

/** Claims the delivery that is due first, of either kind. */
const claimStatement = defineStatement({
  name: 'claim_delivery',
  text: /* sql */ `
  delete from outbox where outbox_id = (
    select outbox_id from outbox where kind in ('forge.delivery', 'forge.address_delivery') and kind <> 'event' and next_attempt_at <= now()
    order by next_attempt_at, outbox_id limit 1 for update skip locked)
  returning outbox_id, kind, payload, correlation_id`,
});

/**
 * Claims each due delivery and applies it in the same transaction: both commit or neither. A failed one waits alone. Returns the
 * number handled.
 */
export async function applyDeliveries(services: Services): Promise<number> {
  for (let handled = 0; handled < DELIVERIES_PER_PASS; handled += 1) {
    let claimed: ClaimedRow | undefined;
    try {
      claimed = await applyNext(services, (delivery) => {
        claimed = delivery;
      });
      if (!claimed) return handled;
    } catch (error) {
      if (!claimed) throw error;
      await recordFailure(services, { outbox_ids: [claimed.outbox_id], leased: false }, error, isRowFailure(error));
    }
  }
  return DELIVERIES_PER_PASS;
}

function applyNext(services: Services, onClaimed: (delivery: ClaimedRow) => void): Promise<ClaimedRow | undefined> {
  return services.db.transaction(async (db: Knex) => {
    const [delivery] = await run<ClaimedRow>(db, claimStatement, []);
    if (!delivery) return undefined;
    onClaimed(delivery);
    const ctx: Context = {
      ...services,
      db,
      actor: { type: 'system', name: 'forge' },
      requestId: newId(),
      correlationId: delivery.correlation_id,
      ip: null,
      userAgent: null,
    };
    await applyDelivery(ctx, delivery.payload.receipt_id, delivery.kind);
    return delivery;
  });
}
