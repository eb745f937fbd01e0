import { createHash } from 'node:crypto';
import { timeOfId } from '../../platform/ids.js';

/** A place in the order of changes: after everything of older transactions, and after the change `id` of this one. */
export interface Position {
  xid: bigint;
  id: string;
}

/** What a cursor says: a place in the order of one history of the database, and when the server gave it out. */
export interface Cursor extends Position {
  history: number;
  ms: number;
}

/** Lower than every id: the place before all changes of a transaction. */
export const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

const PREFIX = 'evt_';
const VERSION = 1;
const BYTES = 33;

/** Returns whether `a` comes after `b`. */
export const isAfter = (a: Position, b: Position): boolean => a.xid > b.xid || (a.xid === b.xid && a.id > b.id);

/** Returns the history of a database in 32 bits. */
export const hashHistory = (history: string): number => createHash('sha256').update(history).digest().readUInt32BE(0);

/** Returns the cursor as clients keep it: 48 characters without a meaning to them. One change always has the same. */
export function encodeCursor(history: number, { xid, id }: Position, ms = timeOfId(id)): string {
  const bytes = Buffer.alloc(BYTES);
  bytes.writeUInt8(VERSION, 0);
  bytes.writeUInt32BE(history, 1);
  bytes.writeUInt32BE(Math.floor(ms / 1000), 5);
  bytes.writeBigUInt64BE(xid, 9);
  bytes.write(id.replaceAll('-', ''), 17, 'hex');
  return PREFIX + bytes.toString('base64url');
}

/** Reads a cursor; null for a text that is none. */
export function decodeCursor(text: string): Cursor | null {
  if (!/^evt_[A-Za-z0-9_-]{44}$/.test(text)) return null;
  const bytes = Buffer.from(text.slice(PREFIX.length), 'base64url');
  if (bytes.readUInt8(0) !== VERSION) return null;
  const hex = bytes.toString('hex', 17);
  return {
    history: bytes.readUInt32BE(1),
    ms: bytes.readUInt32BE(5) * 1000,
    xid: bytes.readBigUInt64BE(9),
    id: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
  };
}
