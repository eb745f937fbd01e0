import type { Knex } from 'knex';
import { inBatches } from '../../../db/in-batches.js';
import { defineStatement, run } from '../../../db/statement.js';

/** Days that a notification is kept, read or not: as long as the run it is about (docs/decisions/automation.md#run-retention). */
const RETENTION_DAYS = 90;
const BATCH = 1_000;

/** Ids are UUIDv7, so the primary key bounds the search. */
const statement = defineStatement({
  name: 'delete_old_notifications',
  text: /* sql */ `
    with deleted as (
      delete from notifications where notification_id in (
        select notification_id from notifications
        where notification_id < (select uuidv7(make_interval(days => -${RETENTION_DAYS}))) order by notification_id limit ${BATCH})
      returning 1
    )
    select count(*)::int as deleted from deleted`,
});

/** Deletes old notifications in batches, each with its own commit; may be repeated. Returns their number. */
export const deleteOldNotifications = (db: Knex): Promise<number> =>
  inBatches(BATCH, async () => (await run<{ deleted: number }>(db, statement, []))[0]?.deleted ?? 0);
