import { defineStatement } from '../../../../db/statement.js';
import { MAX_IN_FLIGHT, MAX_PROBE_FACTOR, PROBE_AFTER } from './timetable.js';

/** Endpoints that one walk visits; the next one continues after them. */
const ENDPOINTS_PER_WALK = 500;

/** A lease or outcome lost in a crash of the database only repeats a delivery under the same id. */
export const ASYNC_COMMIT = `set_config('synchronous_commit', 'off', true) <> ''`;

/** Requests in progress at the endpoint x, over all workers; an expired lease counts until it is released. */
const BUSY = /* sql */ `
  select count(*)::int as n from (
    select from webhook_queue q where q.webhook_id = x.webhook_id and q.is_leased limit ${MAX_IN_FLIGHT}) leased`;

const DUE = `q.webhook_id = x.webhook_id and not q.is_leased and q.next_attempt_at <= now()`;

/** Requests that an endpoint with the health h may have at the same time. After some failures in a row: one, with growing pauses. */
const allowed = (probeSeconds: string): string => /* sql */ `case
  when h.failure_count < ${PROBE_AFTER} then ${MAX_IN_FLIGHT}
  when h.last_failure_at + make_interval(secs => ${probeSeconds}
    * least(${MAX_PROBE_FACTOR}, power(2, least(h.failure_count, ${PROBE_AFTER + 10}) - ${PROBE_AFTER}))) > now() then 0
  else 1 end`;

/**
 * Walks over the endpoints with deliveries, by one index probe each, however many deliveries wait. $1 = endpoint after which to start,
 * $2 = seconds of the first pause between probes. Returns one row: `endpoints` that may receive requests now (`failures` null:
 * never answered), `gone` endpoints that were deleted, and `last` if the walk has to continue after it.
 */
export const walkStatement = defineStatement({
  name: 'walk_webhooks',
  text: /* sql */ `
with recursive walk as (
  (select webhook_id, 1 as n from webhook_queue where webhook_id > $1::uuid order by webhook_id limit 1)
  union all
  select (select q.webhook_id from webhook_queue q where q.webhook_id > w.webhook_id order by q.webhook_id limit 1), w.n + 1
  from walk w where w.webhook_id is not null and w.n <= ${ENDPOINTS_PER_WALK}
), free as (
  select x.webhook_id, w.team_id, due.n as due,
    case when h.failure_count > 0 or h.last_success_at is not null then h.failure_count end as failures
  from walk x join webhooks w using (webhook_id) join webhook_health h using (webhook_id)
  cross join lateral (${BUSY}) busy
  cross join lateral (select count(*)::int as n from (select from webhook_queue q where ${DUE} limit ${MAX_IN_FLIGHT}) waiting) due
  where x.n <= ${ENDPOINTS_PER_WALK} and w.is_active and due.n > 0 and busy.n < ${allowed('$2::float8')}
)
select coalesce((select jsonb_agg(jsonb_build_object('webhook_id', webhook_id, 'team_id', team_id, 'failures', failures, 'due', due))
    from free), '[]') as endpoints,
  array(select webhook_id from walk x where x.webhook_id is not null and not exists (
    select from webhooks w where w.webhook_id = x.webhook_id)) as gone,
  (select webhook_id from walk where n = ${ENDPOINTS_PER_WALK} and exists (
    select from walk where n > ${ENDPOINTS_PER_WALK} and webhook_id is not null)) as last`,
});

/**
 * Takes the endpoints $1 for the transaction, except those that another worker has: the next statement then counts what that worker
 * has leased.
 */
export const lockStatement = defineStatement({
  name: 'lock_webhooks',
  text: /* sql */ `
select set_config('assent.webhooks', coalesce(string_agg(id::text, ','), ''), true), ${ASYNC_COMMIT}
from unnest($1::uuid[]) id where pg_try_advisory_xact_lock(hashtextextended('webhook:' || id, 0))`,
});

/**
 * Leases due deliveries of the locked endpoints, oldest first. $1 = endpoints, $2 = most deliveries of each, $3 = seconds of the lease,
 * $4 = seconds of the first pause between probes. The rows are leased where they were locked: by its key, a plan made for a short queue would read all of
 * a long one. Returns the deliveries with what sending takes but the text, and rows without event of endpoints that another worker has.
 */
export const claimStatement = defineStatement({
  name: 'claim_webhooks',
  text: /* sql */ `
with wanted as materialized (
  select e.webhook_id, e.most, e.webhook_id = any(string_to_array(current_setting('assent.webhooks'), ',')::uuid[]) as is_ours
  from unnest($1::uuid[], $2::int[]) as e(webhook_id, most)
), x as materialized (
  select e.webhook_id, w.team_id, w.url, w.format, h.failure_count, w.data_key, w.sealed_value,
    case when w.previous_until > now() then w.previous_data_key end as previous_data_key,
    case when w.previous_until > now() then w.previous_sealed_value end as previous_sealed_value,
    least(e.most, ${allowed('$4::float8')} - (select busy.n from (select e.webhook_id) x cross join lateral (${BUSY}) busy)) as free
  from wanted e join webhooks w using (webhook_id) join webhook_health h using (webhook_id)
  where e.is_ours and w.is_active
), due as materialized (
  select d.* from x cross join lateral (
    select q.ctid as place from webhook_queue q where ${DUE}
    order by q.next_attempt_at limit greatest(x.free, 0) for update skip locked) d
), leased as (
  update webhook_queue q set is_leased = true, next_attempt_at = now() + make_interval(secs => $3::float8)
  from due where q.ctid = due.place
  returning q.webhook_id, q.event_id, q.tries, q.next_attempt_at::text as lease
)
select l.*, x.team_id, x.url, x.format, x.failure_count, x.data_key, x.sealed_value, x.previous_data_key, x.previous_sealed_value
from leased l join x using (webhook_id)
union all
select w.webhook_id, null, null, null, null, null, null, null, null, null, null, null from wanted w where not w.is_ours`,
});

/** $1 = event ids, $2 = the lowest, $3 = the highest: only partitions of their time are opened. Texts of events. */
export const bodiesStatement = defineStatement({
  name: 'webhook_bodies',
  text: /* sql */ `
    select event_id, body from webhook_events where event_id = any($1::uuid[]) and event_id >= $2::uuid and event_id <= $3::uuid`,
});

/** Ends the leases of workers that died: their deliveries are sent again under the same id. Returns a row if there were any. */
export const expireStatement = defineStatement({
  name: 'expire_webhook_leases',
  text: /* sql */ `
with expired as (
  update webhook_queue q set is_leased = false, next_attempt_at = now()
  where (q.webhook_id, q.event_id) in (
    select webhook_id, event_id from webhook_queue where is_leased and next_attempt_at <= now() limit 1000 for update skip locked)
  returning 1
)
select count(*)::int as expired from expired having count(*) > 0`,
});
