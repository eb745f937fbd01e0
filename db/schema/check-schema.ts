import type { Knex } from 'knex';
import { MIGRATION_NAMES } from '../migrations/index.js';
import { run } from '../statement.js';
import { findOldestVersion, findStateTables, listMigrations } from './schema-state.sql.js';

/** Version of this build; a test compares it with package.json. */
export const VERSION = '0.2.0';

/** What a database says of its schema. */
export interface SchemaState {
  /** Names of the applied migrations in order. */
  applied: readonly string[];
  /** The oldest version of the service that can run on it; null in the schema of version 0.1.0. */
  oldestVersion: string | null;
}

/** The schema of the database is none that this build can run on or migrate. The message says what to do. */
export class SchemaError extends Error {}

/** Exit status of a process that refuses the schema: EX_CONFIG of sysexits.h. */
export const SCHEMA_EXIT_STATUS = 78;

/** Reads what the database says of its schema. @throws any error of `pg` */
export async function readSchemaState(db: Knex): Promise<SchemaState> {
  const [found] = await run<{ has_migrations: boolean; has_version: boolean }>(db, findStateTables, []);
  const applied = found?.has_migrations ? await run<{ name: string }>(db, listMigrations, []) : [];
  const [row] = found?.has_version ? await run<{ oldest_version: string }>(db, findOldestVersion, []) : [];
  return { applied: applied.map(({ name }) => name), oldestVersion: row?.oldest_version ?? null };
}

/** Compares two versions of three numbers. */
function isOlder(version: string, than: string): boolean {
  const [left, right] = [version, than].map((text) => text.split('.').map(Number));
  const at = [0, 1, 2].find((index) => left?.[index] !== right?.[index]);
  return at !== undefined && (left?.[at] ?? 0) < (right?.[at] ?? 0);
}

const listMissing = (names: readonly string[], others: readonly string[]): string[] =>
  names.filter((name) => !others.includes(name));

/** Returns the migrations that the database has and this build does not know. */
export const listUnknownMigrations = ({ applied }: SchemaState): string[] => listMissing(applied, MIGRATION_NAMES);

/**
 * Returns why this build cannot run on a schema, and what to do; null if it can. A newer schema is fine as long as it states that this version can run
 * on it: during an upgrade processes of both versions run.
 */
export function findSchemaProblem(state: SchemaState): string | null {
  const missing = listMissing(MIGRATION_NAMES, state.applied);
  const unknown = listUnknownMigrations(state);
  const newest = state.applied.at(-1);
  const upgrade =
    'Run the migrate step of this version (npm run migrate; with compose, docker compose run --rm migrate), then start again.';
  if (newest === undefined) return `The database has no schema. ${upgrade}`;
  if (missing.length > 0 && (unknown.length === 0 || state.oldestVersion === null)) {
    return `The schema of the database is older than this build: it is at ${newest}, and version ${VERSION} needs ${MIGRATION_NAMES.at(-1)}. ${upgrade}`;
  }
  if (missing.length > 0) {
    return `The schema of the database belongs to another build: it has ${unknown.join(', ')}, and lacks ${missing.join(', ')} of version ${VERSION}. Start the version that migrated it.`;
  }
  if (unknown.length > 0 && isOlder(VERSION, state.oldestVersion ?? VERSION)) {
    return `The schema of the database is newer than this build: it needs version ${state.oldestVersion} or later, and this is ${VERSION}. Start that version, or restore the backup from before the upgrade.`;
  }
  return null;
}
