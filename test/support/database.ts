import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { openDatabase, SERVING } from '../../db/connection.js';

const fact = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run the tests through npm test`);
  return value;
};

export interface TestDatabase {
  db: Knex;
  url: string;
  /** Copies the database as it is now, while nobody uses it. Returns what puts the copy in its place, as a restore from a backup does. */
  backUp: () => Promise<() => Promise<void>>;
  /** Closes the pool and drops the database. */
  drop: () => Promise<void>;
}

/** PostgreSQL copies a database that nobody is connected to; connections of pools are opened again when they are needed. */
async function copyDatabase(admin: Knex, from: string, to: string): Promise<void> {
  const isInUse = (error: unknown): boolean => (error as { code?: string }).code === '55006';
  for (let tries = 0; ; tries += 1) {
    await admin.raw('select pg_terminate_backend(pid) from pg_stat_activity where datname = ?', [from]);
    try {
      await admin.raw(`create database ${to} template ${from}`);
      return;
    } catch (error) {
      if (!isInUse(error) || tries === 50) throw error;
    }
  }
}

/** Longest wait for a connection or a lock, ms; `product`: the waits of the product itself, where they are what is tested. */
export type Patience = number | 'product';

/**
 * What a pool of tests waits, usually longer than the product: a busy machine runs several test files at once, many tests insert thousands
 * of rows in one statement, and some hold a lock for as long as it takes to start a process.
 */
function waits(patience: Patience = 30_000) {
  if (patience === 'product') return {};
  return { acquireTimeoutMs: patience, lockTimeout: patience, statementTimeout: 40_000, idleTransactionTimeout: 120_000 };
}

/** A database of its own for a test file, cloned from the migrated template. */
export async function cloneDatabase(patience?: Patience): Promise<TestDatabase> {
  const adminUrl = fact('ASSENT_TEST_PG_URL');
  const admin = openDatabase({
    url: adminUrl,
    poolSize: 1,
    name: 'assent-test-admin',
    acquireTimeoutMs: 60_000,
    statementTimeout: 60_000,
  });
  const name = `test_${randomBytes(6).toString('hex')}`;
  // Copying the files takes half as long as writing every page to the log, which is PostgreSQL's default.
  await admin.raw(`create database ${name} template ${fact('ASSENT_TEST_TEMPLATE')} strategy file_copy`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  const db = openDatabase({
    url: url.href,
    poolSize: 8,
    name: 'assent-test',
    ...SERVING,
    ...waits(patience),
  });
  return {
    db,
    url: url.href,
    async backUp() {
      const copy = `${name}_copy`;
      await copyDatabase(admin, name, copy);
      return async () => {
        await admin.raw(`drop database ${name} with (force)`);
        await copyDatabase(admin, copy, name);
      };
    },
    async drop() {
      await db.destroy();
      await admin.raw(`drop database if exists ${name} with (force)`);
      await admin.raw(`drop database if exists ${name}_copy with (force)`);
      await admin.destroy();
    },
  };
}

/** Returns how many statements wait for a row lock in this database. */
export async function lockWaiters(db: Knex): Promise<number> {
  const sql = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  return (await db.raw<{ rowCount: number }>(sql)).rowCount;
}
