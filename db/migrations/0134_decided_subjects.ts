import type { Knex } from 'knex';
import { sqlMigration } from './sql-files.js';

/** An index that is built while the service runs is built outside of a transaction. */
export const config = { transaction: false };

const INDEX = 'decision_log_of_person';
const COLUMNS = '(team_id, decided_by, decision_id)';

/** Partitions without a part of the index, each with the name of the part, and whether an interrupted build left an invalid one. */
const PARTITIONS_LEFT = /* sql */ `
  select c.relname as partition, c.relname || '_of_person' as part, coalesce(not b.indisvalid, false) as is_broken
  from pg_inherits i join pg_class c on c.oid = i.inhrelid left join pg_index b on b.indexrelid = to_regclass(c.relname || '_of_person')
  where i.inhparent = 'decision_log'::regclass and not exists (
    select from pg_index x join pg_inherits p on p.inhrelid = x.indexrelid
    where x.indrelid = c.oid and p.inhparent = to_regclass('${INDEX}'))`;

interface Left {
  partition: string;
  part: string;
  is_broken: boolean;
}

/**
 * Lets the log say what each decision was about, and finds the decisions of one person. The index of a partitioned table is built in parts: writers
 * wait for none of them.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.transaction(async (trx) => sqlMigration('0134_decided_subjects.sql').up(trx));
  await knex.transaction(async (trx) => {
    await trx.raw("set local lock_timeout = '2s'");
    await trx.raw(`create index if not exists ${INDEX} on only decision_log ${COLUMNS}`);
  });
  const { rows } = await knex.raw<{ rows: Left[] }>(PARTITIONS_LEFT);
  for (const { partition, part, is_broken } of rows) {
    if (is_broken) await knex.raw('drop index concurrently ??', [part]);
    await knex.raw(`create index concurrently if not exists ?? on ?? ${COLUMNS}`, [part, partition]);
    await knex.raw(`alter index ${INDEX} attach partition ??`, [part]);
  }
}

export const down = (): Promise<never> => Promise.reject(new Error('Migrations go forward only: restore a backup instead'));
