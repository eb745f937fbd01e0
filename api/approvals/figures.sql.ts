import { defineStatement } from '../../db/statement.js';

/**
 * $1 = team id, or null for the caller's own, $2 = caller id, $3 = from, $4 = to (exclusive), $5 = `source` or `approver`, $6 = whether all approvers
 * are shown. The ids hold the times of the ends, so an index bounds the rows. Waiting times are those of what people decided.
 */
export const figuresStatement = defineStatement({
  name: 'decision_figures',
  text: /* sql */ `
    with ended as (
      select case $5::text when 'approver' then d.decided_by::text else d.source end as key, d.state,
        extract(epoch from uuid_extract_timestamp(d.decision_id) - d.requested_at)::float8 as waited
      from decision_log d
      where d.decision_id >= uuid_at($3::timestamptz) and d.decision_id < uuid_at($4::timestamptz)
        and case when $1::uuid is null then d.team_id is null and d.user_id = $2 else d.team_id = $1 end
        and ($5 <> 'approver' or d.decided_by = $2 or ($6::boolean and d.decided_by is not null))
    )
    select key, count(*)::int as count, count(*) filter (where state = 'approved')::int as approved,
      count(*) filter (where state = 'rejected')::int as rejected, count(*) filter (where state = 'expired')::int as expired,
      count(*) filter (where state = 'cancelled')::int as cancelled,
      percentile_cont(0.5) within group (order by waited) filter (where state in ('approved', 'rejected')) as waiting_p50_seconds,
      percentile_cont(0.95) within group (order by waited) filter (where state in ('approved', 'rejected')) as waiting_p95_seconds
    from ended group by key order by count desc, key limit 500`,
});
