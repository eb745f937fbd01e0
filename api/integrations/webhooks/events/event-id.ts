import { createHash } from 'node:crypto';
import { parse, stringify, version } from 'uuid';

/** Bytes of a UUIDv7 that hold its time. */
const TIME_BYTES = 6;

/**
 * Returns the id of an event that a change amounts to: a UUIDv7 with the time of the change, the rest from its id and the name. The
 * same change gives the same id again, and partitions by time hold.
 */
export function derivedId(changeId: string, name: string, createdAt: string): string {
  const id = createHash('sha256').update(`${changeId}/${name}`).digest().subarray(0, 16);
  if (version(changeId) === 7) id.set(parse(changeId).subarray(0, TIME_BYTES));
  else id.writeUIntBE(new Date(createdAt).getTime(), 0, TIME_BYTES);
  id[6] = ((id[6] as number) & 0x0f) | 0x70;
  id[8] = ((id[8] as number) & 0x3f) | 0x80;
  return stringify(id);
}

/** Returns the stable id of an event: that of the change for its own name, a derived one for every other name. */
export const deriveEventId = (change: { event_id: string; subject: string; created_at: string }, name: string): string =>
  name === change.subject && version(change.event_id) === 7
    ? change.event_id
    : derivedId(change.event_id, name, change.created_at);
