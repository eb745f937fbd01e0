import type { Knex } from 'knex';
import { findSchemaProblem, readSchemaState, SCHEMA_EXIT_STATUS } from '../../../db/schema/check-schema.js';
import { findPoolerProblem } from './find-pooler.js';
import type { Logger } from '../telemetry/log.js';

/** Pause between two attempts while PostgreSQL is unreachable. */
const RETRY_MS = 5_000;

/**
 * Ends the process if it cannot run on the schema of the database, or through a pooler, with the reason in the log. A process that starts while PostgreSQL is
 * unreachable serves what it can, as one that loses PostgreSQL later does, and looks again until PostgreSQL responds.
 */
export async function refuseUnknownSchema(db: Knex, log: Logger): Promise<void> {
  try {
    const problem = (await findPoolerProblem(db)) ?? findSchemaProblem(await readSchemaState(db));
    if (problem === null) return;
    log.fatal(problem);
    process.exit(SCHEMA_EXIT_STATUS);
  } catch (error) {
    log.warn({ err: error }, 'the schema of the database could not be read; trying again');
    setTimeout(() => void refuseUnknownSchema(db, log), RETRY_MS).unref();
  }
}
