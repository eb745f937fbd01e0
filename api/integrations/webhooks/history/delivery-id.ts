import { createHash } from 'node:crypto';

/** Bytes of a UUIDv7 that hold its time. */
const TIME_BYTES = 6;

/** Bits of an endpoint that its deliveries change in a UUIDv7: neither time nor version nor variant. */
function deriveMask(webhookId: string): Buffer {
  const mask = createHash('sha256').update(webhookId).digest().subarray(0, 16).fill(0, 0, TIME_BYTES);
  mask[6] = (mask[6] as number) & 0x0f;
  mask[8] = (mask[8] as number) & 0x3f;
  return mask;
}

/**
 * Returns the id of an event's delivery to an endpoint: a UUIDv7 with the time of the event. Nothing stores or indexes it, because the
 * event's id comes back the same way (`eventIdOfDelivery`).
 */
export function deriveDeliveryId(webhookId: string, eventId: string): string {
  const id = Buffer.from(eventId.replaceAll('-', ''), 'hex');
  deriveMask(webhookId).forEach((bits, at) => {
    id[at] = (id[at] as number) ^ bits;
  });
  return id.toString('hex').replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');
}

/** Returns the id of the event of a delivery. Any other id gives one that no event of the endpoint has. */
export const eventIdOfDelivery = (webhookId: string, deliveryId: string): string => deriveDeliveryId(webhookId, deliveryId);
