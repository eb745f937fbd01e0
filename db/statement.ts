import type { Knex } from 'knex';
import type { QueryResult, QueryResultRow } from 'pg';

/** One named prepared statement: PostgreSQL parses it once per connection and keeps its plan. Names are unique per text. */
export interface Statement {
  name: string;
  text: string;
}

interface PgConnection {
  query(config: { name: string; text: string; values: unknown[] }): Promise<QueryResult>;
}
interface ConnectionSource {
  acquireConnection(): Promise<PgConnection>;
  releaseConnection(connection: PgConnection): Promise<void>;
}

/**
 * Runs a named statement on a connection of the pool, or on the transaction's own connection when `db` is one.
 * knex itself sends every query un-named, so plans would not be kept: the hot paths come through here.
 * @throws whatever `pg` throws; api/core/database-errors.ts maps it
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
