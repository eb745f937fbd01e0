import type { Knex } from 'knex';
import pg, { type QueryResult, type QueryResultRow } from 'pg';

/**
 * A named prepared statement: PostgreSQL parses it once per connection and keeps its plan. A name belongs to one text, unless `run` alone uses it;
 * a statement with an empty one is planned each time.
 */
export interface Statement {
  name: string;
  text: string;
}

const statements = new Map<string, Statement>();

/** Every statement that the loaded modules define, by name. */
export const listStatements = (): ReadonlyMap<string, Statement> => statements;

/**
 * Defines a statement. `test/db/statements.test.ts` prepares each on PostgreSQL, and compares what it takes and returns with the types of its callers.
 * @throws if another text has the name: a connection that prepared the one would refuse the other
 */
export function defineStatement(statement: Statement): Statement {
  const { name, text } = statement;
  const known = statements.get(name);
  if (known !== undefined && known.text !== text) throw new Error(`Two statements are called ${name}`);
  if (name !== '') statements.set(name, statement);
  return statement;
}

interface PgConnection {
  /** Private parts of pg: its socket, and the texts that the connection has prepared, by name. */
  connection: { stream: { cork(): void; uncork(): void }; parsedStatements: Record<string, string> };
  query(config: { name: string; text: string; values: unknown[] }): Promise<QueryResult>;
}
/** Set on a connection, it makes knex's pool close it instead of lending it again. */
interface Disposable {
  __knex__disposed?: unknown;
}
interface ConnectionSource {
  acquireConnection(): Promise<PgConnection>;
  releaseConnection(connection: PgConnection): Promise<void>;
}

/**
 * Returns whether a migration has changed the columns that a statement returns, after the connection had prepared it. During an upgrade processes of
 * both versions run, and the old ones meet this once a connection.
 */
export const isOutdatedPlan = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === '0A000' && error.message === 'cached plan must not change result type';

/**
 * Lends a connection: that of the transaction, if `db` is one. One that holds an outdated plan is closed afterwards, for the statement would fail on it
 * for ever.
 * @throws what `work` throws
 */
async function onConnection<T>(db: Knex, work: (connection: PgConnection) => Promise<T>): Promise<T> {
  const source = db.client as unknown as ConnectionSource;
  const connection: PgConnection & Disposable = await source.acquireConnection();
  try {
    return await work(connection);
  } catch (error) {
    if (isOutdatedPlan(error)) connection.__knex__disposed = error;
    throw error;
  } finally {
    await source.releaseConnection(connection);
  }
}

/** Repeats work whose connection held an outdated plan: another one has none, or is closed in its turn. Nothing was written. */
async function withFreshPlan<T>(db: Knex, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (db.isTransaction || !isOutdatedPlan(error)) throw error;
    }
  }
}

/** Makes a connection forget the statement of a name that belongs to another text now: pg would refuse the other one. */
async function forgetOther(client: PgConnection, { name, text }: Statement): Promise<void> {
  const { parsedStatements } = client.connection;
  if (name === '' || (parsedStatements[name] ?? text) === text) return;
  await client.query({ name: '', text: `deallocate "${name}"`, values: [] });
  Reflect.deleteProperty(parsedStatements, name);
}

/**
 * Runs a named statement on a pool connection, or on the transaction's own connection if `db` is one. knex sends unnamed queries, whose
 * plans are not kept; hot paths use this instead.
 * @throws any error of `pg`; api/platform/database/database-errors.ts maps it
 */
export function run<Row extends QueryResultRow>(db: Knex, { name, text }: Statement, values: unknown[]): Promise<Row[]> {
  return withFreshPlan(db, async () => {
    const { rows } = await onConnection(db, async (connection) => {
      await forgetOther(connection, { name, text });
      return connection.query({ name, text, values });
    });
    return rows as Row[];
  });
}

/**
 * Runs a named statement and hands on each row, as an array of columns, when it arrives. No row is kept, so long results cost no memory that
 * only a full collection of the garbage would free. Returns the number of rows.
 * @throws any error of `pg`
 */
export function runEach(db: Knex, statement: Statement, values: unknown[], take: (row: unknown[]) => void): Promise<number> {
  let rows = 0;
  const readFrom = (connection: PgConnection) =>
    new Promise((resolve, reject) => {
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
  return withFreshPlan(db, async () => {
    await onConnection(db, readFrom);
    return rows;
  });
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
  const sendTo = async (connection: PgConnection) => {
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
  };
  return withFreshPlan(db, () => onConnection(db, sendTo));
}
