import { defineStatement } from '../../../../db/statement.js';

/**
 * Stores a delivery in one statement and one commit. $1 = delivery id, $2 = event header or null, $3 = normalized event or null,
 * $4 = repository, $5 = SHA-256 of the body, $6 = payload (jsonb), $7 = reason if ignored, $8 = request id. Returns one row:
 * `duplicate`, and `echoed` if the same bytes came under another id in the last day. Every later step reads `tally`, so the
 * receipt's key is locked before the counter's row: two repeats that share a shard wait only for the key, never for each other.
 */
export const acceptDeliveryStatement = defineStatement({
  name: 'accept_forge_delivery',
  text: /* sql */ `
with echo as (
  -- The id is not signed: known bytes under a new id are processed again, but marked.
  select exists (select from forge_deliveries d
    where d.body_sha256 = $5::bytea and d.received_at > now() - interval '24 hours' and d.delivery_id <> $1::text) as echoed
), receipt as (
  insert into forge_deliveries (delivery_id, event, normalized, repo, body_sha256, payload, outcome, reason)
  select $1, $2::text, $3::text, $4::text, $5, $6::jsonb, case when $3 is null then 'ignored' end,
    coalesce($7::text, case when echoed then 'The same body came under another delivery id in the last 24 hours' end)
  from echo
  on conflict (delivery_id) where outcome is distinct from 'duplicate' do nothing
  returning receipt_id
), tally as (
  select count(*)::int as fresh from receipt
), repeat as (
  insert into forge_deliveries (delivery_id, event, normalized, repo, body_sha256, outcome, reason)
  select $1, $2, $3, $4, $5, 'duplicate', 'This delivery id was handled already' from tally where fresh = 0
), work as (
  insert into outbox (kind, subject, payload, correlation_id)
  select 'forge.delivery', $3, jsonb_build_object('receipt_id', receipt_id), $8::uuid from receipt where $3 is not null
), counted as (
  -- One of 64 rows by connection, so that deliveries do not wait for one row's lock until each commit.
  insert into forge_counters as c (shard, received_total, duplicates_total, ignored_total, last_received_at, last_event)
  select pg_backend_pid() % 64, 1, 1 - fresh, case when $3 is null then fresh else 0 end, now(), $2 from tally
  on conflict (shard) do update set received_total = c.received_total + 1,
    duplicates_total = c.duplicates_total + excluded.duplicates_total, ignored_total = c.ignored_total + excluded.ignored_total,
    last_received_at = excluded.last_received_at, last_event = excluded.last_event
)
select fresh = 0 as duplicate, echoed from tally, echo`,
});

/** $1 = event header of a delivery without a receipt: a ping, or a body that is not JSON. */
export const countReceivedStatement = defineStatement({
  name: 'count_forge_received',
  text: /* sql */ `
insert into forge_counters as c (shard, received_total, last_received_at, last_event)
values (pg_backend_pid() % 64, 1, now(), $1)
on conflict (shard) do update set received_total = c.received_total + 1,
  last_received_at = excluded.last_received_at, last_event = excluded.last_event`,
});
