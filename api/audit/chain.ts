import { hash } from 'node:crypto';

/** Chain of entries without a team, such as sign-ins and administration. A team's chain has the team's id. */
export const INSTANCE_CHAIN = '00000000-0000-0000-0000-000000000000';

/** Hashed fields of an entry, in this order: every column of `audit_entries`, in the table's order. */
export const HASHED_FIELDS = [
  'audit_id',
  'correlation_id',
  'timestamp',
  'team_id',
  'user_id',
  'user_email',
  'actor_type',
  'impersonator_id',
  'token_id',
  'ip_address',
  'user_agent',
  'feature',
  'action',
  'severity',
  'outcome',
  'entity_type',
  'entity_id',
  'details',
] as const;

/** An entry as stored: lower-case uuids with hyphens, everything else unchanged. `details` is the stored text. */
export type StoredEntry = Record<(typeof HASHED_FIELDS)[number], string | null>;

/** A position in a chain. */
export interface Link {
  /** Starts at 1, without gaps. */
  sequence: number;
  /** `entry_hash`, 32 bytes. */
  hash: Buffer;
}

/** The position before the first entry of every chain. */
export const GENESIS: Link = { sequence: 0, hash: Buffer.alloc(32) };

/** First hashed byte. A new layout needs a new byte, so that no two layouts hash the same bytes. */
const ENTRY_LAYOUT = 0x01;

/** Null is 0x00; a text is 0x01, its length in bytes (4, unsigned, big-endian), its bytes in UTF-8. */
export function fieldForm(value: string | null): Buffer {
  if (value === null) return Buffer.of(0);
  const length = Buffer.byteLength(value);
  const form = Buffer.allocUnsafe(5 + length);
  form.writeUInt8(1, 0);
  form.writeUInt32BE(length, 1);
  form.write(value, 5);
  return form;
}

/**
 * The bytes that stand for an entry at its place; no two places or entries share them.
 *
 *     offset  bytes  what
 *     0       1      0x01, this layout
 *     1       8      sequence, unsigned, big-endian
 *     9       32     entry_hash of the entry before, zeros at sequence 1
 *     41      ...    the fields of HASHED_FIELDS, one after the other: null is the byte 0x00;
 *                    a text is the byte 0x01, its length in bytes (4, unsigned, big-endian), its bytes in UTF-8
 *
 * Lengths, not separators, so that no text moves from one field into the next; nothing is re-serialised, because key order and
 * number form of JSON change on the way. See docs/adr/0004.
 */
export function canonicalForm(entry: StoredEntry, sequence: number, previousHash: Buffer): Buffer {
  const place = Buffer.allocUnsafe(9);
  place.writeUInt8(ENTRY_LAYOUT, 0);
  place.writeBigUInt64BE(BigInt(sequence), 1);
  return Buffer.concat([place, previousHash, ...HASHED_FIELDS.map((field) => fieldForm(entry[field]))]);
}

/** Returns the position of an entry that follows `previous`. */
export function linkEntry(entry: StoredEntry, previous: Link): Link {
  const sequence = previous.sequence + 1;
  return { sequence, hash: hash('sha256', canonicalForm(entry, sequence, previous.hash), 'buffer') };
}
