import type { Knex } from 'knex';
import { poolOf } from '../../../db/knex-internals.js';

interface PendingLoad<Key, Value> {
  key: Key;
  resolve: (value: Value) => void;
  reject: (error: unknown) => void;
}

/**
 * Turns a look-up of many into one of a single key: while one look-up is under way, the keys that come wait and go together in
 * the next. A key that comes alone waits for nobody, and no answer is older than its question. Under load this is one round trip
 * for many requests, which is most of what a small look-up costs.
 * `load` answers the keys in their order; what it throws is thrown to each of them.
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
 * The same for look-ups in the database: one `gather` a pool. Inside a transaction a look-up goes alone, over the transaction's own
 * connection. Statements take such keys as `(select $1::uuid[])`: with the number of keys in hand the planner would make a new plan
 * for every call, which costs more than the look-up.
 */
export function createRowLoader<Key, Value>(
  load: (db: Knex, keys: Key[]) => Promise<Value[]>,
): (db: Knex, key: Key) => Promise<Value> {
  const ofPools = new WeakMap<Knex, (key: Key) => Promise<Value>>();
  return async (db, key) => {
    if (db.isTransaction) return (await load(db, [key]))[0] as Value;
    // Many callers' look-up: it counts for none of them (db/connection-queue.ts).
    const pool = poolOf(db);
    let look = ofPools.get(pool);
    if (!look) ofPools.set(pool, (look = createBatchLoader((keys) => load(pool, keys))));
    return look(key);
  };
}
