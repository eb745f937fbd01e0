import type { Knex } from 'knex';
import { wrapPool } from '../../../../db/knex-internals.js';

interface PendingLoad<Key, Value> {
  key: Key;
  resolve: (value: Value) => void;
  reject: (error: unknown) => void;
}

/**
 * Batches concurrent lookups. While one lookup is in flight, new keys queue and go together in the next. A lone key never waits,
 * and no result is older than its request. Under load one round trip serves many requests, and the round trip is most of a small
 * lookup's cost.
 * `load` returns values in key order; an error it throws rejects every key of the batch.
 */
export function createBatchLoader<Key, Value>(load: (keys: Key[]) => Promise<Value[]>): (key: Key) => Promise<Value> {
  let waiting: PendingLoad<Key, Value>[] = [];
  let busy = false;
  const ask = async (): Promise<void> => {
    busy = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        const values = await load(batch.map(({ key }) => key));
        for (const [i, one] of batch.entries()) one.resolve(values[i] as Value);
      } catch (error) {
        for (const one of batch) one.reject(error);
      }
    }
    busy = false;
  };
  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      if (!busy) void ask();
    });
}

/**
 * Batches lookups in the database, one loader per pool. Inside a transaction a lookup runs alone on the transaction's connection.
 * Statements take the keys as `(select $1::uuid[])`: with a visible number of keys the planner would create a new plan per call,
 * which costs more than the lookup.
 */
export function createRowLoader<Key, Value>(
  load: (db: Knex, keys: Key[]) => Promise<Value[]>,
): (db: Knex, key: Key) => Promise<Value> {
  const loaders = new WeakMap<Knex, (key: Key) => Promise<Value>>();
  return async (db, key) => {
    if (db.isTransaction) return (await load(db, [key]))[0] as Value;
    // The batch belongs to many callers, so it counts for none of them (db/connection-queue.ts).
    const pool = wrapPool(db);
    let loader = loaders.get(pool);
    if (!loader) loaders.set(pool, (loader = createBatchLoader((keys) => load(pool, keys))));
    return loader(key);
  };
}
