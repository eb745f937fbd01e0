import { defineStatement } from '../../../../db/statement.js';

/** $1 = token id, $2 = key of the call. The request of the same call, whose result was not delivered. */
export const askedRequestStatement = defineStatement({
  name: 'asked_request',
  text: 'select r.request_id from change_requests r where r.token_id = $1 and r.call_hash = $2',
});

/** $1 = request id, $2 = token id, $3 = upstream id. What became of a request that this token asked this server for through the gateway. */
export const gatewayRequestStatement = defineStatement({
  name: 'gateway_request',
  text: /* sql */ `
    select r.request_id, r.status, r.closed_reason, r.outcome, r.seq, r.created_at, s.result,
      case when r.status = 'pending' and r.expires_at <= clock_timestamp() then true
        when r.status = 'approved' and r.use_until <= clock_timestamp() then true else false end as is_over
    from change_requests r left join change_request_results s using (request_id)
    where r.request_id = $1 and r.token_id = $2 and r.upstream_id = $3 and r.source = 'gateway'`,
});

/** $1 = request id. The result is delivered: the same call is a new one from now on. */
export const deliverStatement = defineStatement({
  name: 'deliver_gateway_result',
  text: 'update change_requests set call_hash = null where request_id = $1 and call_hash is not null',
});

/** $1 = request id, $2 = caller (jsonb), $3 = change (jsonb). What it would call has changed: it ends, and nothing was called. Returns who approved it. */
export const staleRequestStatement = defineStatement({
  name: 'stale_request',
  text: /* sql */ `
    with changed as (
      update change_requests r set status = 'stale', closed_reason = 'tool_changed', ended_at = clock_timestamp(), seq = r.seq + 1
      where r.request_id = $1 and r.status in ('pending', 'approved')
      returning r.request_id, r.revision
    )
    select record_change($2::jsonb, $3::jsonb) as audit_id,
      array(select d.user_id from change_request_decisions d
        where d.request_id = c.request_id and d.revision = c.revision and d.decision = 'approved') as approvers
    from changed c`,
});
