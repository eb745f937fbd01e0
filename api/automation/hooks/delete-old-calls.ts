import type { Knex } from 'knex';
import { inBatches } from '../../../db/in-batches.js';
import { defineStatement, run } from '../../../db/statement.js';
import { KEY_HOURS } from './receive-call.sql.js';

const BATCH = 500;

const deleteStatement = defineStatement({
  name: 'delete_old_hook_calls',
  text: /* sql */ `
    with old as materialized (
      select automation_id, key_hash from automation_hook_calls where called_at < now() - interval '${KEY_HOURS} hours'
      order by called_at limit ${BATCH} for update skip locked
    )
    delete from automation_hook_calls where (automation_id, key_hash) in (select automation_id, key_hash from old) returning 1`,
});

/** Deletes the keys of calls that no longer count. Returns their number. */
export const deleteOldCalls = (db: Knex): Promise<number> =>
  inBatches(BATCH, async () => (await run(db, deleteStatement, [])).length);
