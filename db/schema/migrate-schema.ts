import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { MIGRATION_NAMES, migrationSource } from '../migrations/index.js';
import { run } from '../statement.js';
import { findSchemaProblem, listUnknownMigrations, readSchemaState, SchemaError, VERSION } from './check-schema.js';
import {
  findStateTables,
  fingerprintSchema,
  freeLeftLock,
  lockMigrations,
  replaceMigrations,
  tryMigrationTurn,
} from './schema-state.sql.js';
import { FINGERPRINT, NAMES } from './version-0-1-0.js';

const [BASELINE] = MIGRATION_NAMES as [string];

const hasNamesOfFirstVersion = (applied: readonly string[]): boolean => applied.some((name) => NAMES.includes(name));

/**
 * Marks the baseline as applied in a database at the last migration of version 0.1.0, whose schema is that of the baseline. The files of 0.1.0 were
 * changed in place while it was developed, so their names alone prove nothing: the schema itself is compared.
 * @throws {SchemaError} in any other state of version 0.1.0; nothing is changed then
 */
async function adoptFirstVersion(db: Knex): Promise<void> {
  await db.transaction(async (trx) => {
    await run(trx, lockMigrations, []);
    const { applied } = await readSchemaState(trx);
    if (!hasNamesOfFirstVersion(applied)) return; // another migrate step was first
    const missing = NAMES.filter((name) => !applied.includes(name));
    if (missing.length > 0 || applied.length > NAMES.length) {
      throw new SchemaError(
        `The database was left between two migrations of version 0.1.0: it is at ${applied.at(-1)}, and lacks ${missing.join(', ') || 'none of them'}. ` +
          `Run the migrate step of the last 0.1.0 first, then that of ${VERSION}. Data that need not be kept: npm run reset.`,
      );
    }
    const [found] = await run<{ fingerprint: string }>(trx, fingerprintSchema, []);
    if (found?.fingerprint !== FINGERPRINT) {
      throw new SchemaError(
        'The database has the migrations of version 0.1.0, but not its schema: it was made by a build from before its release, or changed manually. ' +
          'Export the data with that build and import it into a new installation. Data that need not be kept: npm run reset.',
      );
    }
    await run(trx, replaceMigrations, [BASELINE]);
  });
}

/** PostgreSQL did not grant a lock in time, or ended a deadlock. */
const LOCKED = new Set(['55P03', '40P01']);
const MAX_ATTEMPTS = 60;
const PAUSE_MS = 1_000;

/**
 * Applies the migrations that are missing. While the service holds a table, each attempt waits for it no longer than a request may wait; the next
 * one goes on where this one stopped.
 */
async function applyMissing(db: Knex): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await db.migrate.latest({ migrationSource });
      return;
    } catch (error) {
      if (!LOCKED.has((error as { code?: string }).code ?? '') || attempt === MAX_ATTEMPTS) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/** Applies the migrations in turn, so that a lock of knex that is found then is one whose holder is gone. */
const applyInTurn = (db: Knex): Promise<void> =>
  db.transaction(async (turn) => {
    while (!(await run<{ mine: boolean }>(turn, tryMigrationTurn, []))[0]?.mine) await sleep(PAUSE_MS);
    const [found] = await run<{ has_migrations: boolean }>(db, findStateTables, []);
    if (found?.has_migrations) await run(db, freeLeftLock, []);
    await applyMissing(db);
  });

/**
 * Brings the schema to that of this build, one step at a time. Leaves a newer schema alone on which this build can run, as after a step back to the version before.
 * @returns the applied migrations, and those of a newer version
 * @throws {SchemaError} if the schema is none that this build can migrate; nothing is changed then
 */
export async function migrateSchema(db: Knex): Promise<{ applied: string[]; newer: string[] }> {
  if (hasNamesOfFirstVersion((await readSchemaState(db)).applied)) await adoptFirstVersion(db);
  const state = await readSchemaState(db);
  const newer = listUnknownMigrations(state);
  if (newer.length > 0) {
    const problem = findSchemaProblem(state);
    if (problem) throw new SchemaError(problem);
    return { applied: [], newer };
  }
  await applyInTurn(db);
  return { applied: MIGRATION_NAMES.filter((name) => !state.applied.includes(name)), newer };
}
