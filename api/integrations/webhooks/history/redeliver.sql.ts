import { defineStatement } from '../../../../db/statement.js';

/** $1 = endpoint id, $2 = event id. Makes the next attempt of a pending delivery due; one in progress is left alone. */
export const attemptNowStatement = defineStatement({
  name: 'attempt_webhook_now',
  text: /* sql */ `
    update webhook_queue set next_attempt_at = now()
    where webhook_id = $1 and event_id = $2 and not is_leased and next_attempt_at > now()`,
});

/**
 * $1 = endpoint id, $2 = event id. Moves a delivery that ended back into the queue, under its id, with its attempts and the whole
 * timetable again.
 */
export const redeliverStatement = defineStatement({
  name: 'redeliver_webhook',
  text: /* sql */ `
    with ended as (
      delete from webhook_deliveries where webhook_id = $1 and status in ('succeeded', 'failed') and event_id = $2
      returning webhook_id, event_id, event_type, attempts
    )
    insert into webhook_queue (webhook_id, event_id, event_type, attempts)
    select webhook_id, event_id, event_type, attempts from ended
    on conflict (webhook_id, event_id) do nothing`,
});

/**
 * $1 = endpoint id, $2 = first event id, $3 = end of the event ids, $4 = deliveries at most, in the range and in the queue, $5 = highest count. Moves all
 * failed deliveries of a range back into the queue, or none of them.
 */
export const replayStatement = defineStatement({
  name: 'replay_webhook',
  text: /* sql */ `
    with found as (
      select count(*)::int as failed from (
        select from webhook_deliveries
        where webhook_id = $1 and status = 'failed' and event_id >= $2 and event_id < $3 limit $5) few
    ), waiting as (
      select count(*)::int as queued from (select from webhook_queue where webhook_id = $1 limit $4) few
    ), ended as (
      delete from webhook_deliveries
      where webhook_id = $1 and status = 'failed' and event_id >= $2 and event_id < $3
        and (select failed from found) <= $4 and (select queued from waiting) < $4
      returning webhook_id, event_id, event_type, attempts
    ), moved as (
      insert into webhook_queue (webhook_id, event_id, event_type, attempts)
      select webhook_id, event_id, event_type, attempts from ended
      on conflict (webhook_id, event_id) do nothing returning event_id
    )
    select failed, queued, (select count(*)::int from moved) as moved from found, waiting`,
});
