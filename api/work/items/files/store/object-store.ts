import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';

/** First and last byte, both included. */
export interface ByteRange {
  first: number;
  last: number;
}

export interface ListedObject {
  key: string;
  modifiedAt: Date;
}

/** Keeps objects by key. Both implementations pass the same tests (test/api/work/items/files/stores.test.ts). */
export interface ObjectStore {
  /**
   * Stores an object under a new key, whole or not at all. It is durable when the promise resolves.
   * @throws what `bytes` throws | INTERNAL_ERROR 503 the store cannot be reached or is full
   */
  put: (key: string, bytes: AsyncIterable<Uint8Array>) => Promise<void>;
  /** Opens an object, or a part of it; undefined if there is none. @throws INTERNAL_ERROR 503 */
  get: (key: string, range?: ByteRange) => Promise<Readable | undefined>;
  /** Removes an object; without one does nothing. @throws INTERNAL_ERROR 503 */
  remove: (key: string) => Promise<void>;
  /** Lists up to 1,000 objects behind a key, in the order of their keys; none at the end. @throws INTERNAL_ERROR 503 */
  list: (after: string) => Promise<ListedObject[]>;
  /** Removes what uploads that a crash ended have left, if nothing wrote it since a moment. Returns the number. */
  removeUnfinished: (before: Date) => Promise<number>;
}

export const MAX_LISTED = 1000;

const KEY = /^[0-9a-f]{32}$/;

/** Returns a new random key. Keys say nothing about the file and are never used twice. */
export const newObjectKey = (): string => randomBytes(16).toString('hex');

/** Returns whether a key can be one of ours; other objects in the store are left alone. */
export const isObjectKey = (key: string): boolean => KEY.test(key);
