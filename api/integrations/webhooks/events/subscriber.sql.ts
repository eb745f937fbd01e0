import { defineStatement } from '../../../../db/statement.js';

/**
 * Active endpoints of the event's team; a channel of a chat room gets no line for each row of an import. The payload decides later whether a change means an event such as
 * task.completed.
 */
export const AUDIENCE = /* sql */ `
  select w.webhook_id as subscriber_id, w.version from webhooks w
  where w.team_id = o.team_id and w.is_active and o.subject = any(w.event_types)
    and not (w.format = 'slack' and o.is_quiet is true)`;

/** An endpoint that was edited meanwhile is judged by its present events; one that was deleted wants none. */
export const definitionsStatement = defineStatement({
  name: 'webhook_definitions',
  text: /* sql */ `
    select wanted.id as subscriber_id, wanted.version, w.events
    from unnest($1::uuid[], $2::int[]) as wanted(id, version) left join webhooks w on w.webhook_id = wanted.id`,
});

/**
 * $1 to $4 = ids, teams, types and bodies of events; $5 to $7 = endpoints, events and types of rows of the queue. Skips endpoints that were deleted meanwhile: the lock waits for a deletion that is not yet
 * committed, instead of failing every other row of the statement.
 */
export const insertStatement = defineStatement({
  name: 'enqueue_webhooks',
  text: /* sql */ `
    with events as (
      insert into webhook_events (event_id, team_id, event_type, body)
      select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[])
      on conflict do nothing
    ), live as materialized (
      select w.webhook_id from webhooks w
      where w.webhook_id = any($5::uuid[])
      order by w.webhook_id for key share of w
    )
    insert into webhook_queue (webhook_id, event_id, event_type)
    select d.webhook_id, d.event_id, d.event_type
    from unnest($5::uuid[], $6::uuid[], $7::text[]) as d(webhook_id, event_id, event_type) join live using (webhook_id)
    on conflict do nothing`,
});
