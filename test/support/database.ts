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
  /** Closes the pool and drops the database. */
  drop: () => Promise<void>;
}

/** A database of its own for a test file, cloned from the migrated template. `patience`: longest wait for a connection, ms. */
export async function cloneDatabase(patience?: number): Promise<TestDatabase> {
  const adminUrl = fact('ASSENT_TEST_PG_URL');
  const admin = openDatabase({ url: adminUrl, poolSize: 1, name: 'assent-test-admin' });
  const name = `test_${randomBytes(6).toString('hex')}`;
  await admin.raw(`create database ${name} template ${fact('ASSENT_TEST_TEMPLATE')}`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  const db = openDatabase({ url: url.href, poolSize: 8, name: 'assent-test', ...SERVING, ...(patience ? { patience } : {}) });
  return {
    db,
    url: url.href,
    async drop() {
      await db.destroy();
      await admin.raw(`drop database if exists ${name} with (force)`);
      await admin.destroy();
    },
  };
}

/** How many statements wait for a row that somebody else holds, in this database. */
export async function lockWaiters(db: Knex): Promise<number> {
  const sql = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  return (await db.raw<{ rowCount: number }>(sql)).rowCount;
}
