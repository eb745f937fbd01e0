import type { Knex } from 'knex';
import type { Client as PgClient } from 'pg';
import type { ConnectionQueue, Holder, PoolUse } from './connection-queue.js';

/**
 * All access to private parts of knex. Opening a pool fails at once if another knex version lacks them; test/db/knex-internals.test.ts
 * fails if they behave differently.
 */

const silent = (): void => undefined;

interface RawTransaction {
  isolationLevel?: string;
  readOnly?: boolean;
  begin: (connection: PgClient) => Promise<unknown>;
}

interface RawClient {
  transaction: (...given: unknown[]) => RawTransaction;
  acquireConnection: () => Promise<object>;
  releaseConnection: (connection: object) => Promise<void>;
}

/** A knex function; its methods use `context.client`. */
interface RawKnex {
  context: { client: RawClient };
  queryBuilder: () => { table: (...given: unknown[]) => unknown };
}

/** @throws TypeError if knex has changed */
function expectFunctions(owner: object, ...names: string[]): void {
  const missing = names.find((name) => typeof (owner as Record<string, unknown>)[name] !== 'function');
  if (missing) throw new TypeError(`knex has no ${missing}() any more: see db/knex-internals.ts`);
}

/**
 * Sends BEGIN together with a transaction's first statement, which saves a round trip. BEGIN fails only with its connection, and then so
 * does the statement. Savepoints and transactions with a mode start as in knex.
 * @throws TypeError if knex has changed
 */
export function beginWithFirstStatement(db: Knex): void {
  const client = db.client as RawClient;
  expectFunctions(client, 'transaction');
  const open = client.transaction;
  client.transaction = function transaction(this: RawClient, ...given) {
    const opened = open.apply(this, given);
    expectFunctions(opened, 'begin');
    if (opened.isolationLevel || opened.readOnly) return opened;
    opened.begin = (connection: PgClient) => {
      connection.query('BEGIN').catch(silent);
      return Promise.resolve();
    };
    return opened;
  };
}

/** A pool's queue, its original functions, and the holder of each connection. */
interface Pool {
  db: Knex;
  queue: ConnectionQueue;
  acquire: () => Promise<object>;
  release: (connection: object) => Promise<void>;
  holders: WeakMap<object, Holder | undefined>;
}

const pools = new WeakMap<Knex, Pool>();

/** Creates a client of the pool that counts each connection for `holder()`, evaluated per connection. */
function createClient({ db, queue, acquire, release, holders }: Pool, holder: () => Holder | undefined): RawClient {
  const take = async (who: Holder | undefined): Promise<object> => {
    try {
      const connection = await acquire();
      holders.set(connection, who);
      return connection;
    } catch (error) {
      queue.leave(who);
      throw error;
    }
  };
  return Object.assign(Object.create(db.client as object) as RawClient, {
    acquireConnection() {
      const who = holder();
      const turn = queue.enter(who);
      return turn ? turn.then(() => take(who)) : take(who);
    },
    releaseConnection(connection: object) {
      const released = release(connection);
      queue.leave(holders.get(connection));
      return released;
    },
  });
}

/**
 * Routes every connection of a new pool through the queue. Connections of `db` itself count for nobody.
 * @throws TypeError if knex has changed
 */
export function queueForConnections(db: Knex, queue: ConnectionQueue): Knex {
  const client = db.client as RawClient;
  expectFunctions(client, 'acquireConnection', 'releaseConnection');
  expectFunctions(db, 'queryBuilder', 'raw', 'transaction');
  if ((db as unknown as RawKnex).context?.client !== client)
    throw new TypeError('knex keeps its client elsewhere: see db/knex-internals.ts');
  const acquire = client.acquireConnection.bind(client);
  const release = client.releaseConnection.bind(client);
  const pool: Pool = { db, queue, acquire, release, holders: new WeakMap() };
  pools.set(db, pool);
  const { acquireConnection, releaseConnection } = createClient(pool, () => undefined);
  Object.assign(client, { acquireConnection, releaseConnection });
  return db;
}

const poolBehind = (db: Knex): Pool => {
  const pool = pools.get(db);
  if (!pool) throw new TypeError('This is no pool that openDatabase opened');
  return pool;
};

/**
 * Returns the same pool with its connections counted for a holder, evaluated per connection. Cheap: a knex function with the pool's methods
 * and another client.
 */
export function countedFor(db: Knex, holder: () => Holder): Knex {
  const pool = poolBehind(db);
  const raw = pool.db as unknown as RawKnex;
  const view = (...given: unknown[]) => (view as unknown as RawKnex).queryBuilder().table(...given);
  Object.setPrototypeOf(view, pool.db);
  const context = Object.assign(Object.create(raw.context) as RawKnex['context'], { client: createClient(pool, holder) });
  Object.defineProperty(view, 'context', { value: context });
  const counted = view as unknown as Knex;
  pools.set(counted, pool);
  return counted;
}

/** Returns the pool behind `countedFor`; a pool or transaction returns itself. */
export const wrapPool = (db: Knex): Knex => pools.get(db)?.db ?? db;

/** Returns the pool's size, connections in use, and waiting requests. */
export const poolUse = (db: Knex): PoolUse => poolBehind(db).queue.use();
