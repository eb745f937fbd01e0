import type { Socket } from 'node:net';
import knexModule, { type Knex } from 'knex';
import pg from 'pg';
import { ConnectionQueue } from './connection-queue.js';
import { beginWithFirstStatement, queueForConnections } from './knex-internals.js';

// Dates stay dates: no zone may shift them. Counters fit a double: no value here passes 2^53.
pg.types.setTypeParser(pg.types.builtins.DATE, (value) => value);
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
pg.types.setTypeParser(pg.types.builtins.NUMERIC, Number);

const silent = (): void => undefined;

interface ConnectionOptions {
  url: string;
  /** Most connections at once. */
  poolSize: number;
  /** Shown in pg_stat_activity. */
  name: string;
  /** Longest a statement may run, ms. */
  statementTimeout?: number;
  /** Longest a caller waits for a connection, ms. */
  patience?: number;
  /** Longest a statement waits for a lock, ms; 0 as long as it may run. */
  lockTimeout?: number;
  /** Longest a transaction may stand open without a statement, ms; 0 for ever. */
  idleTransactionTimeout?: number;
}

/**
 * How long the API and the worker wait for a lock, and keep one while nothing happens, ms. A request that meets a lock of somebody
 * who is slow is told to come again, instead of holding a connection that others need. A process that is frozen in the middle of a
 * transaction loses it, with its locks. Migrations and scripts of an operator wait as long as it takes. The wait for a lock is longer than
 * PostgreSQL's deadlock_timeout (1 s): of two that wait for each other one is told so and runs again, instead of being sent away.
 */
export const SERVING = { lockTimeout: 1_500, idleTransactionTimeout: 10_000 };

/** What pg keeps to itself and we need: its socket, and whether it waits for an answer. */
interface RawConnection {
  readyForQuery: boolean;
  connection: { stream: Socket };
}

/** Beyond the longest statement, ms: the server would have answered by then, if only that it cancelled. */
const SILENCE_MARGIN = 2_000;

/**
 * Returns what a pool does with each new connection: one whose server went silent in the middle of a statement is given up, and
 * the idle ones with it. A network that swallows everything breaks no connection for a quarter of an hour, and the server's own
 * limit for a statement cannot be heard through it.
 */
function closeUnresponsive(ms: number): (client: RawConnection) => void {
  const open = new Set<RawConnection>();
  return (client) => {
    const { stream } = client.connection;
    open.add(client);
    stream.on('close', () => open.delete(client));
    // Not as the argument of setTimeout: that listener is gone after the first time, which may be an idle one.
    stream.setTimeout(ms);
    stream.on('timeout', () => {
      if (client.readyForQuery) return;
      const error = Object.assign(new Error('The database went silent'), { code: 'ETIMEDOUT' });
      for (const each of open) if (each === client || each.readyForQuery) each.connection.stream.destroy(error);
    });
  };
}

/**
 * Opens a pool. Unless told otherwise a caller waits at most 2 s for a connection and a statement runs at most 10 s (durability
 * notes, 3.1), so that with PostgreSQL gone every request ends in a few seconds with a 503 instead of hanging.
 */
export function openDatabase(options: ConnectionOptions): Knex {
  const {
    url,
    poolSize,
    name,
    statementTimeout = 10_000,
    patience = 2_000,
    lockTimeout = 0,
    idleTransactionTimeout = 0,
  } = options;
  const watch = statementTimeout > 0 ? closeUnresponsive(statementTimeout + SILENCE_MARGIN) : undefined;
  const connection = {
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: patience,
    statement_timeout: statementTimeout,
    lock_timeout: lockTimeout,
    idle_in_transaction_session_timeout: idleTransactionTimeout,
    keepAlive: true,
    options: '-c timezone=UTC',
    // A statement is sent when it is asked for, not when the one before is answered.
    pipeline: true,
  };
  const db = knexModule({
    client: 'pg',
    connection,
    pool: {
      min: 0,
      max: poolSize,
      idleTimeoutMillis: 60_000,
      afterCreate(client: RawConnection, done: (error: Error | null, client: RawConnection) => void) {
        watch?.(client);
        done(null, client);
      },
    },
    acquireConnectionTimeout: patience,
    asyncStackTraces: false,
    // What goes wrong is thrown, mapped and logged by whoever asked; knex would print it a second time.
    log: { warn: silent, error: silent, deprecate: silent, debug: silent },
  });
  beginWithFirstStatement(db);
  const timeout = () => new knexModule.KnexTimeoutError('No connection was free in time');
  return queueForConnections(db, new ConnectionQueue(poolSize, patience, timeout));
}
