import knexModule, { type Knex } from 'knex';
import type { Client as PgConnection } from 'pg';
import type { ConnectionQueue, Holder, PoolUse } from './connection-queue.js';

/** All access to private parts of knex. test/db/knex-internals.test.ts fails if another version of knex behaves differently. */

const silent = (): void => undefined;

interface RawTransaction {
  isolationLevel?: string;
  readOnly?: boolean;
  begin: (connection: PgConnection) => Promise<unknown>;
}

/** A knex function; its methods use `context.client`. */
interface RawKnex {
  context: { client: AssentPgClient };
  queryBuilder: () => { table: (...given: unknown[]) => unknown };
}

/** knex finds the class of a dialect by its name and does not export it. Without a connection it opens no pool. */
const PgClient = knexModule({ client: 'pg' }).client.constructor as typeof knexModule.Client;

/** Client of a pool: begins transactions without a round trip, and routes every connection through the queue. */
export class AssentPgClient extends PgClient {
  /** Set when the pool is opened. */
  declare queue: ConnectionQueue;
  /** For whom a connection counts, evaluated per connection; those of the pool itself count for nobody. */
  holder = (): Holder | undefined => undefined;
  private readonly holders = new WeakMap<object, Holder | undefined>();

  /**
   * Sends BEGIN together with a transaction's first statement, which saves a round trip. BEGIN fails only with its connection, and then so
   * does the statement. Savepoints and transactions with a mode start as in knex.
   */
  override transaction(container: unknown, config: unknown, outer: unknown): Knex.Transaction {
    const transaction = super.transaction(container, config, outer);
    const raw = transaction as unknown as RawTransaction;
    if (!raw.isolationLevel && !raw.readOnly) {
      raw.begin = (connection) => {
        connection.query('BEGIN').catch(silent);
        return Promise.resolve();
      };
    }
    return transaction;
  }

  override async acquireConnection(): Promise<object> {
    const holder = this.holder();
    const wait = this.queue.enter(holder);
    if (wait) await wait;
    try {
      const connection = (await super.acquireConnection()) as object;
      this.holders.set(connection, holder);
      return connection;
    } catch (error) {
      this.queue.leave(holder);
      throw error;
    }
  }

  override releaseConnection(connection: object): Promise<void> {
    const released = super.releaseConnection(connection) as Promise<void>;
    this.queue.leave(this.holders.get(connection));
    return released;
  }
}

/** The pool behind each result of `countedFor`. */
const pools = new WeakMap<Knex, Knex>();

/**
 * Returns the same pool with its connections counted for a holder, evaluated per connection. Cheap: a knex function with the pool's methods
 * and another client.
 */
export function countedFor(db: Knex, holder: () => Holder): Knex {
  const pool = wrapPool(db);
  const raw = pool as unknown as RawKnex;
  const view = (...given: unknown[]) => (view as unknown as RawKnex).queryBuilder().table(...given);
  Object.setPrototypeOf(view, pool);
  const client = Object.assign(Object.create(pool.client as object) as AssentPgClient, { holder });
  const context = Object.assign(Object.create(raw.context) as RawKnex['context'], { client });
  Object.defineProperty(view, 'context', { value: context });
  const counted = view as unknown as Knex;
  pools.set(counted, pool);
  return counted;
}

/** Returns the pool behind `countedFor`; a pool or transaction returns itself. */
export const wrapPool = (db: Knex): Knex => pools.get(db) ?? db;

/** Returns the pool's size, connections in use, and waiting requests. */
export const poolUse = (db: Knex): PoolUse => (db.client as AssentPgClient).queue.use();
