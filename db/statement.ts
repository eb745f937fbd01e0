import type { Knex } from 'knex';
import pg, { type QueryResult, type QueryResultRow } from 'pg';

/**
 * A named prepared statement: PostgreSQL parses it once per connection and keeps its plan. A name belongs to one text; a statement with an empty
 * one is planned each time.
 */
export interface Statement {
  name: string;
  text: string;
}

interface PgConnection {
  /** Private part of pg: its socket. */
  connection: { stream: { cork(): void; uncork(): void } };
  query(config: { name: string; text: string; values: unknown[] }): Promise<QueryResult>;
}
interface ConnectionSource {
  acquireConnection(): Promise<PgConnection>;
  releaseConnection(connection: PgConnection): Promise<void>;
}

/**
 * Runs a named statement on a pool connection, or on the transaction's own connection if `db` is one. knex sends unnamed queries, whose
 * plans are not kept; hot paths use this instead.
 * @throws any error of `pg`; api/core/database-errors.ts maps it
 */
export async function run<Row extends QueryResultRow>(db: Knex, statement: Statement, values: unknown[]): Promise<Row[]> {
  const source = db.client as unknown as ConnectionSource;
  const connection = await source.acquireConnection();
  try {
    const result = await connection.query({ name: statement.name, text: statement.text, values });
    return result.rows as Row[];
  } finally {
    await source.releaseConnection(connection);
  }
}

/**
 * Runs a named statement and hands on each row, as an array of columns, when it arrives. No row is kept, so long results cost no memory that
 * only a full collection of the garbage would free. Returns the number of rows.
 * @throws any error of `pg`
 */
export async function runEach(
  db: Knex,
  statement: Statement,
  values: unknown[],
  take: (row: unknown[]) => void,
): Promise<number> {
  const source = db.client as unknown as ConnectionSource;
  const connection = await source.acquireConnection();
  let rows = 0;
  try {
    await new Promise((resolve, reject) => {
      const config: pg.QueryArrayConfig = { ...statement, values, rowMode: 'array' };
      const query = new pg.Query(config);
      query.on('row', (row: unknown) => {
        rows += 1;
        take(row as unknown[]);
      });
      query.on('end', resolve);
      query.on('error', reject);
      (connection as unknown as pg.Client).query(query);
    });
    return rows;
  } finally {
    await source.releaseConnection(connection);
  }
}

/** A statement with its parameters. */
export interface Call {
  statement: Statement;
  values: unknown[];
}

const begin: Call = { statement: { name: 'begin', text: 'begin' }, values: [] };
const commit: Call = { statement: { name: 'commit', text: 'commit' }, values: [] };

/**
 * Runs statements in one transaction of their own and sends all of them at once, so that they cost one round trip. Returns the rows of each.
 * @throws the first error of `pg`; then nothing is committed
 */
export async function runAtOnce(db: Knex, calls: Call[]): Promise<QueryResultRow[][]> {
  if (db.isTransaction) throw new Error('The statements have a transaction of their own');
  const source = db.client as unknown as ConnectionSource;
  const connection = await source.acquireConnection();
  try {
    const { stream } = connection.connection;
    stream.cork();
    const sent = [begin, ...calls, commit].map(({ statement: { name, text }, values }) =>
      connection.query({ name, text, values }),
    );
    stream.uncork();
    const outcomes = await Promise.allSettled(sent);
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
    return outcomes.slice(1, -1).map((outcome) => (outcome as PromiseFulfilledResult<QueryResult>).value.rows);
  } finally {
    await source.releaseConnection(connection);
  }
}
