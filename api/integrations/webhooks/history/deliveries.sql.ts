import { defineStatement } from '../../../../db/statement.js';

/** Attempts without the texts of the receiver. */
const SHORT = /* sql */ `(select coalesce(jsonb_agg(each - 'response' order by at), '[]') from jsonb_array_elements(attempts) with ordinality a (each, at))`;

const buildHistorySql = (status: 'succeeded' | 'failed'): string => /* sql */ `
      (select event_id, event_type, status, null::timestamptz as next_attempt_at, attempts from webhook_deliveries
      where '${status}' = any($2) and webhook_id = $1 and status = '${status}' and event_id < $3 order by event_id desc limit $4)`;

/** $1 = endpoint id, $2 = states, $3 = event id (exclusive), $4 = row limit. The newest of the queue and of each state, merged. */
export const listDeliveriesStatement = defineStatement({
  name: 'list_webhook_deliveries',
  text: /* sql */ `
    select event_id, event_type, status, next_attempt_at, ${SHORT} as attempts from (
      (select event_id, event_type, 'pending' as status, next_attempt_at, attempts from webhook_queue
      where 'pending' = any($2) and webhook_id = $1 and event_id < $3 order by event_id desc limit $4)
      union all ${buildHistorySql('succeeded')}
      union all ${buildHistorySql('failed')}
    ) d order by event_id desc limit $4`,
});

/** $1 = endpoint id, $2 = event id. One delivery with the text that is sent. The queue wins: a delivery is in one place at a time. */
export const readDeliveryStatement = defineStatement({
  name: 'read_webhook_delivery',
  text: /* sql */ `
    select d.event_id, d.event_type, d.status, d.next_attempt_at, d.attempts, e.body as request_body from (
      select event_id, event_type, 'pending' as status, next_attempt_at, attempts from webhook_queue
      where webhook_id = $1 and event_id = $2
      union all
      select event_id, event_type, status, null, attempts from webhook_deliveries
      where webhook_id = $1 and status in ('succeeded', 'failed') and event_id = $2
      limit 1
    ) d join webhook_events e on e.event_id = d.event_id`,
});
