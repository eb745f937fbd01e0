import { defineStatement } from '../../../../db/statement.js';
import { ASYNC_COMMIT } from './claim.sql.js';

/** Attempts that a delivery keeps: those of the timetable, twice, and some manual ones. */
const MAX_ATTEMPTS_KEPT = 20;
/** Seconds after which a further success is noted. */
const SUCCESS_NOTED_SECONDS = 5;

const attempts = /* sql */ `
  case when r.attempt is null then q.attempts when jsonb_array_length(q.attempts) < ${MAX_ATTEMPTS_KEPT} then q.attempts || r.attempt
    else (q.attempts - 0) || r.attempt end`;

/**
 * Records the outcomes of many attempts. $1 to $6 = outcomes (`outcomeColumns`), $7 to $9 = health of their endpoints (`healthColumns`), $10 = seconds of
 * failures that disable one. An outcome counts while its lease holds; a success always does, because the receiver has the event. Health changes only
 * where it says something new. Returns each endpoint: whether it has failed for too long, and whether more is due: not by EXISTS, which the
 * planner may answer from a hash of the whole queue.
 */
export const finishStatement = defineStatement({
  name: 'finish_webhooks',
  text: /* sql */ `
with r as materialized (
  select * from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::float8[], $6::jsonb[])
    as r(webhook_id, event_id, lease, status, wait, attempt) where ${ASYNC_COMMIT}
), ended as (
  delete from webhook_queue q using r
  where q.webhook_id = r.webhook_id and q.event_id = r.event_id
    and (r.status = 'succeeded' or r.status = 'failed' and q.is_leased and q.next_attempt_at = r.lease)
  returning q.event_id, q.webhook_id, q.event_type, r.status, ${attempts} as attempts
), kept as (
  insert into webhook_deliveries (event_id, webhook_id, event_type, status, attempts)
  select event_id, webhook_id, event_type, status, attempts from ended
  on conflict (webhook_id, status, event_id) do update set attempts = excluded.attempts
), again as (
  update webhook_queue q set is_leased = false, next_attempt_at = now() + make_interval(secs => r.wait),
    tries = q.tries + (r.attempt is not null)::int, attempts = ${attempts}
  from r
  where r.status = 'retry' and q.webhook_id = r.webhook_id and q.event_id = r.event_id and q.is_leased and q.next_attempt_at = r.lease
), t as materialized (
  select * from unnest($7::uuid[], $8::boolean[], $9::int[]) as t(webhook_id, succeeded, failures)
), outcomes as materialized (
  select h.webhook_id, t.succeeded, t.failures from t join webhook_health h using (webhook_id)
  where t.failures > 0 or t.succeeded and (h.failure_count > 0 or h.last_success_at is null
    or h.last_success_at < now() - interval '${SUCCESS_NOTED_SECONDS} seconds')
  order by h.webhook_id for update of h
), health as (
  update webhook_health h set
    failure_count = case when outcomes.succeeded then 0 else h.failure_count end + outcomes.failures,
    failing_since = case when outcomes.failures = 0 then null when outcomes.succeeded then now() else coalesce(h.failing_since, now()) end,
    last_success_at = case when outcomes.succeeded then now() else h.last_success_at end,
    last_failure_at = case when outcomes.failures > 0 then now() else h.last_failure_at end
  from outcomes where h.webhook_id = outcomes.webhook_id
  returning h.webhook_id, h.failing_since <= now() - make_interval(secs => $10::float8) as is_failing
)
select t.webhook_id, coalesce(health.is_failing, false) as is_failing, (
  select true from webhook_queue q where q.webhook_id = t.webhook_id and not q.is_leased and q.next_attempt_at <= now()
  order by q.next_attempt_at limit 1) is not null as has_more
from t left join health using (webhook_id)`,
});

/** Ends what waits for endpoints that were disabled because they are gone or failing: it can be replayed. Returns a row if there was any. */
export const endDisabledStatement = defineStatement({
  name: 'end_webhooks_of_disabled',
  text: /* sql */ `
with waiting as materialized (
  select q.webhook_id, q.event_id from webhooks w cross join lateral (
    select q.* from webhook_queue q where q.webhook_id = w.webhook_id and not q.is_leased limit 1000) q
  where w.disabled_reason is not null limit 1000
), ended as (
  delete from webhook_queue q using waiting x where q.webhook_id = x.webhook_id and q.event_id = x.event_id and not q.is_leased
  returning q.event_id, q.webhook_id, q.event_type, q.attempts
), kept as (
  insert into webhook_deliveries (event_id, webhook_id, event_type, status, attempts)
  select event_id, webhook_id, event_type, 'failed', attempts from ended
  on conflict (webhook_id, status, event_id) do update set attempts = excluded.attempts
)
select count(*)::int as ended from ended having count(*) > 0`,
});
