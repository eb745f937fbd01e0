import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

/** Random bytes are drawn for this many ids at once: a kernel call per id costs six times the id itself. */
const POOL_IDS = 256;
const BYTES_PER_ID = 16;

const pool = Buffer.alloc(POOL_IDS * BYTES_PER_ID);
let offset = pool.length;
let lastMs = 0;
let sequence = 0;

/** Returns a UUIDv7 as text. Ids of one process strictly ascend, even within a millisecond and when the clock steps back. */
export function newId(): string {
  if (offset === pool.length) {
    randomFillSync(pool);
    offset = 0;
  }
  const random = pool.subarray(offset, (offset += BYTES_PER_ID));
  const now = Date.now();
  if (now > lastMs) {
    lastMs = now;
    // The upper half stays free, so counting up within a millisecond does not overflow.
    sequence = random.readUInt32BE(6) >>> 1;
  } else {
    sequence += 1;
  }
  return v7({ random, msecs: lastMs, seq: sequence });
}

/** Whether a text is a UUID, in either case: PostgreSQL fails to cast anything else. */
export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

/** Returns the lowest id of a time, in milliseconds since 1970: a UUIDv7 starts with them. */
export function lowestIdAt(ms: number): string {
  const digits = Math.min(Math.max(0, ms), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7000-8000-000000000000`;
}

/** Returns the time in a UUIDv7, in milliseconds since 1970. */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/** Returns a UUIDv7 of this time, in milliseconds since 1970, with the last 74 bits of another UUID: the same input gives the same id. */
export const idAt = (ms: number, id: string): string => lowestIdAt(ms).slice(0, 15) + id.slice(15);
