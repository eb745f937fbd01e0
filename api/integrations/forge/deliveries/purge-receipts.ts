import type { Knex } from 'knex';
import { inBatches } from '../../../../db/in-batches.js';
import { defineStatement, run, type Statement } from '../../../../db/statement.js';

/**
 * Days that a receipt keeps its payload, and a repeat its row; the key of a handled delivery stays forever
 * (docs/decisions/integrations.md#delivery-receipts).
 */
const RETENTION_DAYS = 30;
const BATCH = 1_000;

/** Receipt ids are UUIDv7, so they are in order of arrival and the primary key bounds the search. */
const EXPIRED = `receipt_id < (select uuidv7(make_interval(days => -${RETENTION_DAYS})))`;

const emptyStatement = defineStatement({
  name: 'empty_forge_deliveries',
  text: /* sql */ `
    update forge_deliveries set payload = null
    where receipt_id in (select receipt_id from forge_deliveries where ${EXPIRED} and payload is not null limit ${BATCH}) returning 1`,
});

const dropStatement = defineStatement({
  name: 'drop_forge_repeats',
  text: /* sql */ `
    delete from forge_deliveries
    where receipt_id in (select receipt_id from forge_deliveries where ${EXPIRED} and outcome = 'duplicate' limit ${BATCH}) returning 1`,
});

/** What came to the address of a binding is deleted as a whole. */
const dropAddressedStatement = defineStatement({
  name: 'drop_forge_address_deliveries',
  text: /* sql */ `
    delete from forge_address_deliveries
    where receipt_id in (select receipt_id from forge_address_deliveries where ${EXPIRED} limit ${BATCH}) returning 1`,
});

/**
 * Clears the payloads of expired receipts, and deletes expired repeats and what came to addresses; may be repeated.
 * @returns the number of rows changed
 */
export async function purgeReceipts(db: Knex): Promise<number> {
  const repeat = (statement: Statement) => inBatches(BATCH, async () => (await run(db, statement, [])).length);
  return (await repeat(emptyStatement)) + (await repeat(dropStatement)) + (await repeat(dropAddressedStatement));
}
