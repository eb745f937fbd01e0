import knexModule, { type Knex } from 'knex';
import pg from 'pg';

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
}

/**
 * Opens a pool. A caller waits at most 2 s for a connection, a statement runs at most 10 s (durability notes, 3.1),
 * so that with PostgreSQL gone every request ends in a few seconds with a 503 instead of hanging.
 */
export function openDatabase({ url, poolSize, name, statementTimeout = 10_000 }: ConnectionOptions): Knex {
  return knexModule({
    client: 'pg',
    connection: {
      connectionString: url,
      application_name: name,
      connectionTimeoutMillis: 2_000,
      statement_timeout: statementTimeout,
      keepAlive: true,
      options: '-c timezone=UTC',
    },
    pool: { min: 0, max: poolSize, idleTimeoutMillis: 60_000 },
    acquireConnectionTimeout: 2_000,
    asyncStackTraces: false,
    // What goes wrong is thrown, mapped and logged by whoever asked; knex would print it a second time.
    log: { warn: silent, error: silent, deprecate: silent, debug: silent },
  });
}
