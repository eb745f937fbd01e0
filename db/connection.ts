import type { Socket } from 'node:net';
import knexModule, { type Knex } from 'knex';
import pg from 'pg';
import { ConnectionQueue } from './connection-queue.js';
import { AssentPgClient } from './knex-internals.js';

// Dates stay text, so no time zone can shift them. Counters fit a double, because no value exceeds 2^53.
pg.types.setTypeParser(pg.types.builtins.DATE, (value) => value);
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
pg.types.setTypeParser(pg.types.builtins.NUMERIC, Number);

const silent = (): void => undefined;

interface ConnectionOptions {
  url: string;
  /** Pool size. */
  poolSize: number;
  /** Name shown in pg_stat_activity. */
  name: string;
  /** Statement timeout, ms. */
  statementTimeout?: number;
  /** Maximum wait for a connection, ms. */
  acquireTimeoutMs?: number;
  /** Lock timeout, ms; 0 = none. */
  lockTimeout?: number;
  /** Timeout of an idle transaction, ms; 0 = none. */
  idleTransactionTimeout?: number;
  /** Whether plans follow indexes, whatever the statistics say. */
  byIndexes?: boolean;
}

/**
 * Timeouts of API and worker, ms (docs/decisions/platform.md#waiting-for-locks). A request blocked by a slow lock gets a 503 instead of
 * occupying a connection. A process frozen inside a transaction loses the transaction and its locks. Migrations and operator
 * scripts have no such limits. The lock timeout exceeds PostgreSQL's deadlock_timeout (1 s), so a deadlock is detected and retried
 * instead of failing the request.
 */
export const SERVING = { lockTimeout: 1_500, idleTransactionTimeout: 10_000 };

/** Private parts of pg that are needed: its socket, and whether it waits for a response. */
interface RawConnection {
  readyForQuery: boolean;
  connection: { stream: Socket };
}

/**
 * For statements over a queue, each of which has its index. A queue that was empty when it was analyzed is planned as empty until the
 * next analysis, so thousands of new rows would be read from end to end, many times in one statement.
 */
const BY_INDEXES = ['enable_seqscan', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin']
  .map((method) => ` -c ${method}=off`)
  .join('');

/**
 * A setting that each connection of ours gives itself. PostgreSQL keeps it; a pooler, which hands every transaction to another session, does not,
 * whatever limits it sets instead.
 */
export const DIRECT_SETTING = 'assent.direct';

/** Margin beyond the statement timeout, ms, within which a live server would have responded. */
const SILENCE_MARGIN = 2_000;

/**
 * Returns a hook for each new connection of a pool: closes a connection whose server stops responding during a statement, and the idle ones
 * with it. A network that drops all packets breaks a TCP connection only after 15 minutes, and the server's own timeout cannot get through.
 */
function closeUnresponsive(ms: number): (client: RawConnection) => void {
  const open = new Set<RawConnection>();
  return (client) => {
    const { stream } = client.connection;
    open.add(client);
    stream.on('close', () => open.delete(client));
    // Not the callback of setTimeout: it fires once only, which may be while idle.
    stream.setTimeout(ms);
    stream.on('timeout', () => {
      if (client.readyForQuery) return;
      const error = Object.assign(new Error('The database went silent'), { code: 'ETIMEDOUT' });
      for (const each of open) if (each === client || each.readyForQuery) each.connection.stream.destroy(error);
    });
  };
}

/**
 * Opens a pool. By default a caller waits at most 2 s for a connection and a statement runs at most 10 s, so that without PostgreSQL every
 * request gets a 503 within seconds.
 */
export function openDatabase(options: ConnectionOptions): Knex {
  const {
    url,
    poolSize,
    name,
    statementTimeout = 10_000,
    acquireTimeoutMs = 2_000,
    lockTimeout = 0,
    idleTransactionTimeout = 0,
    byIndexes = false,
  } = options;
  const watch = statementTimeout > 0 ? closeUnresponsive(statementTimeout + SILENCE_MARGIN) : undefined;
  const connection = {
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: acquireTimeoutMs,
    statement_timeout: statementTimeout,
    lock_timeout: lockTimeout,
    idle_in_transaction_session_timeout: idleTransactionTimeout,
    keepAlive: true,
    options: `-c timezone=UTC -c ${DIRECT_SETTING}=on${byIndexes ? `${BY_INDEXES} -c plan_cache_mode=force_generic_plan` : ''}`,
    // Sends statements without waiting for the previous response.
    pipeline: true,
  };
  const db = knexModule({
    client: AssentPgClient,
    connection,
    pool: {
      min: 0,
      max: poolSize,
      // The next burst opens them again in milliseconds; each keeps 15 to 50 MB of PostgreSQL meanwhile.
      idleTimeoutMillis: 20_000,
      afterCreate(client: RawConnection, done: (error: Error | null, client: RawConnection) => void) {
        watch?.(client);
        done(null, client);
      },
    },
    acquireConnectionTimeout: acquireTimeoutMs,
    asyncStackTraces: false,
    // Errors are thrown, mapped and logged by the caller; knex would log them twice.
    log: { warn: silent, error: silent, deprecate: silent, debug: silent },
  });
  const timeout = () => new knexModule.KnexTimeoutError('No connection was free in time');
  (db.client as AssentPgClient).queue = new ConnectionQueue(poolSize, acquireTimeoutMs, timeout);
  return db;
}
