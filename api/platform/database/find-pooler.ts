import type { Knex } from 'knex';
import { defineStatement, run } from '../../../db/statement.js';

/** Every pool of ours sets a limit for statements when it connects. */
const statement = defineStatement({
  name: 'find_statement_timeout',
  text: `select current_setting('statement_timeout') as statement_timeout`,
});

const PROBLEM =
  'DATABASE_URL leads to a connection pooler such as PgBouncer, which drops the settings of our connections: time limits and time zone. ' +
  'Connect to PostgreSQL itself; API and worker pool their connections (docs/operate/scale.md)';

/** PROTOCOL_VIOLATION, with which a pooler refuses parameters of a connection that it does not know. */
const isRefusal = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  (error as { code?: unknown }).code === '08P01' &&
  /startup parameter/.test(String((error as { message?: unknown }).message));

/**
 * Returns what to do about a pooler between us and PostgreSQL; null without one. It would hand each transaction to another session, so locks
 * would be waited for without a limit, and prepared statements and LISTEN would fail now and then.
 * @throws the error of PostgreSQL or its connection
 */
export async function findPoolerProblem(db: Knex): Promise<string | null> {
  try {
    const [found] = await run<{ statement_timeout: string }>(db, statement, []);
    return found?.statement_timeout === '0' ? PROBLEM : null;
  } catch (error) {
    if (isRefusal(error)) return PROBLEM;
    throw error;
  }
}
