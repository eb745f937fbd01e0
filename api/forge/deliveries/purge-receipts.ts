import type { Knex } from 'knex';

/** Days that a receipt keeps its payload, and a repeat its row; the key of a handled delivery stays for good (decisions H1 and L). */
const RETENTION_DAYS = 30;
const BATCH = 500;

/** Receipt ids are UUIDv7, so their order is that of arrival and the primary key bounds the search. */
const EXPIRED = `receipt_id < (select uuidv7(make_interval(days => -${RETENTION_DAYS})))`;

const EMPTY = /* sql */ `
  update forge_deliveries set payload = null
  where receipt_id in (select receipt_id from forge_deliveries where ${EXPIRED} and payload is not null limit ${BATCH})`;

const DROP = /* sql */ `
  delete from forge_deliveries
  where receipt_id in (select receipt_id from forge_deliveries where ${EXPIRED} and outcome = 'duplicate' limit ${BATCH})`;

/** Repeats a statement, each time in a commit of its own, until it finds a batch less than full. Returns the rows it touched. */
async function inBatches(db: Knex, statement: string): Promise<number> {
  let total = 0;
  for (;;) {
    const { rowCount } = await db.raw<{ rowCount: number }>(statement);
    total += rowCount;
    if (rowCount < BATCH) return total;
  }
}

/**
 * Empties receipts past their time and deletes the repeats among them; may be run at any time, as often as one likes.
 * @returns how many rows it touched
 */
export async function purgeReceipts(db: Knex): Promise<number> {
  return (await inBatches(db, EMPTY)) + (await inBatches(db, DROP));
}
