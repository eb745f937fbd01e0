import { readFileSync } from 'node:fs';
import type { Knex } from 'knex';

/** Returns a migration that runs files of SQL beside this module, in the given order and in the transaction that knex opens. */
export function sqlMigration(...files: string[]): Required<Pick<Knex.Migration, 'up' | 'down'>> {
  return {
    async up(knex) {
      // Behind a lock that waits, requests of the running service would wait too: `migrateSchema` tries again instead.
      await knex.raw("set local lock_timeout = '2s'");
      for (const file of files) await knex.raw(readFileSync(new URL(file, import.meta.url), 'utf8'));
    },
    down: () => Promise.reject(new Error('Migrations go forward only: restore a backup instead')),
  };
}
