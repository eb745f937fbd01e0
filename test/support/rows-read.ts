import type { Knex } from 'knex';

/**
 * Returns how many rows of the tables that a statement reads, in a transaction of its own.
 *
 * PostgreSQL's counters of a transaction also hold what the connection has not reported yet of earlier ones: only the difference counts.
 * @param tables a pattern of LIKE: `tasks`, `activity_%`
 */
export function rowsRead(db: Knex, tables: string, work: (trx: Knex.Transaction) => Promise<unknown>): Promise<number> {
  return db.transaction(async (trx) => {
    const before = await counted(trx, tables);
    await work(trx);
    return (await counted(trx, tables)) - before;
  });
}

/** A table that nothing has read has no counters yet. */
async function counted(trx: Knex, tables: string): Promise<number> {
  const counters = trx('pg_stat_xact_user_tables').whereLike('relname', tables);
  const sums = await counters.sum({ scanned: 'seq_tup_read', fetched: 'idx_tup_fetch' }).first();
  return Number(sums?.['scanned'] ?? 0) + Number(sums?.['fetched'] ?? 0);
}
