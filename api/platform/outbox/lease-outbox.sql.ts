import { defineStatement } from '../../../db/statement.js';
import { ASYNC_COMMIT, OWNER, buildOwnersSql } from './match-events.sql.js';

/**
 * $1 = kinds, $2 = row limit per kind, $3 = owner after whom to start. A row stays until Temporal has accepted it. The lease, which is also
 * the backoff, lets another worker retry if this one dies. Skips rows locked by other workers. Starts of runs are shared among their owners,
 * so that a team with thousands of them delays no other team's.
 */
export const leaseStatement = defineStatement({
  name: 'lease_outbox',
  text: /* sql */ `
with ${buildOwnersSql("o.kind = 'run.start'", '$3')}, share as materialized (
  select greatest(1, $2::int / greatest(1, count(*)))::int as rows from owner
), starts as (
  select s.outbox_id, w.owner_id, w.place from owner w cross join lateral (
    select o.outbox_id from outbox o where o.kind = 'run.start' and ${OWNER} = w.owner_id and o.next_attempt_at <= now()
    order by o.next_attempt_at, o.outbox_id limit (select rows from share) for update skip locked
  ) s where 'run.start' = any($1::text[])
), others as (
  select l.outbox_id from unnest($1::text[]) as wanted(kind) cross join lateral (
    select o.outbox_id from outbox o where o.kind = wanted.kind and o.kind not in ('event', 'run.start') and o.next_attempt_at <= now()
    order by o.next_attempt_at, o.outbox_id limit $2 for update skip locked
  ) l where wanted.kind <> 'run.start'
), due as (
  select outbox_id, owner_id, place from starts union all select outbox_id, null, null from others
)
update outbox o set attempts = o.attempts + 1, next_attempt_at = now() + outbox_backoff(o.attempts) + interval '5 seconds'
from due where o.outbox_id = due.outbox_id and ${ASYNC_COMMIT}
returning o.outbox_id, o.kind, o.subject, extract(epoch from now() - o.created_at)::float8 / 3600 as age_hours, due.owner_id, due.place::int`,
});
