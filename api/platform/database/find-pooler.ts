import type { Knex } from 'knex';
import { DIRECT_SETTING } from '../../../db/connection.js';
import { defineStatement, run } from '../../../db/statement.js';

const statement = defineStatement({
  name: 'find_direct_setting',
  text: `select current_setting('${DIRECT_SETTING}', true) as direct`,
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
 * Returns what to do about a pooler between us and PostgreSQL; null without one. It would hand each transaction to another session: locks
 * would be waited for without a limit, LISTEN would hear nothing, and a plan that a migration has outdated would stay (ADR 27).
 * @throws the error of PostgreSQL or its connection
 */
export async function findPoolerProblem(db: Knex): Promise<string | null> {
  try {
    const [found] = await run<{ direct: string | null }>(db, statement, []);
    return found?.direct === 'on' ? null : PROBLEM;
  } catch (error) {
    if (isRefusal(error)) return PROBLEM;
    throw error;
  }
}
