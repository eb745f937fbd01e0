import type { Knex } from 'knex';
import type { QueryResult, QueryResultRow } from 'pg';

/** A named prepared statement: PostgreSQL parses it once per connection and keeps its plan. A name belongs to one text. */
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
