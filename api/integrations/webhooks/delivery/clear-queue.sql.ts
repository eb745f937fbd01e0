import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';

/** Rows of one statement: milliseconds, however many an endpoint has. */
const BATCH = 1_000;
/** Above every id. */
const HIGHEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * $1 = endpoint, $2 = event id before which to continue. Deletes the newest rows of the endpoint's queue, so that its first row stays one
 * that walks over the endpoints find at once. Rows that another worker holds are left for later.
 */
const clearStatement = defineStatement({
  name: 'clear_webhook_queue',
  text: /* sql */ `
with old as materialized (
  select q.event_id from webhook_queue q where q.webhook_id = $1::uuid and q.event_id < $2::uuid
  order by q.event_id desc limit ${BATCH} for update skip locked
), deleted as (
  delete from webhook_queue q using old where q.webhook_id = $1::uuid and q.event_id = old.event_id returning q.event_id
)
select (array_agg(event_id order by event_id))[1] as last, count(*) = ${BATCH} as has_more from deleted`,
});

/**
 * Deletes up to 1,000 pending deliveries of an endpoint that is deleted. Returns the event id before which to continue; null if there are
 * no more.
 */
export async function clearQueue({ db }: Pick<Context, 'db'>, webhookId: string, before = HIGHEST_ID): Promise<string | null> {
  const [row] = await run<{ last: string | null; has_more: boolean }>(db, clearStatement, [webhookId, before]);
  return row?.has_more ? row.last : null;
}
