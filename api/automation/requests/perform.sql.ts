import { defineStatement } from '../../../db/statement.js';
import { wakeRequest } from '../../gate/requests/decide/decide.sql.js';
import { REDEMPTION } from '../../gate/requests/use/redeem.sql.js';

/** Minutes after which a call without a stored outcome is taken for unknown. */
const OUTCOME_MINUTES = 10;

/**
 * $1 = request id, $2 = hash, $3 = redemption id, $4 = id of the key that signs, $5 = seconds of the receipt, $6 = roles in which the requester may ask,
 * $7 = caller (jsonb), $8 = change (jsonb). Uses the approval of the text with this hash for Assent, once: what follows is sent at most once. No row: it is
 * not approved any more, or the requester may not ask any more. Returns what the receipt says, and the role of the requester now.
 */
export const claimPerformanceStatement = defineStatement({
  name: 'claim_request_performance',
  text: /* sql */ `
    with changed as (
      update change_requests r set status = 'redeemed', redemption_id = $3, redeemed_at = date_trunc('second', clock_timestamp()), key_id = $4,
        receipt_seconds = $5, attempts = 1, ended_at = clock_timestamp(),
        outcome_due = clock_timestamp() + interval '${OUTCOME_MINUTES} minutes', seq = r.seq + 1
      where r.request_id = $1 and r.status = 'approved' and r.request_hash = $2::bytea and r.executor = 'assent' and r.attempts = 0
        and r.use_until > clock_timestamp()
        and exists (select from memberships m join users u using (user_id)
          where m.team_id = r.team_id and m.user_id = r.requested_by and m.role = any($6::text[]) and u.status = 'active')
      returning r.*
    ), woken as (${wakeRequest('changed')}
    )
    select ${REDEMPTION},
      (select m.role from memberships m where m.team_id = r.team_id and m.user_id = r.requested_by) as seat,
      record_change($7::jsonb, $8::jsonb) as audit_id from changed r`,
});

const PERFORMED = /* sql */ `
    select r.request_id, r.team_id, r.requested_by, r.canonical, r.request_hash, r.operation_hashes, r.revision, r.self_ids, r.depth, r.status, r.outcome,
      r.attempts, r.title, r.correlation_id, r.source, r.upstream_id
    from change_requests r where r.request_id = $1 and r.executor = 'assent'`;

/** $1 = request id. What Assent performs. */
export const performedRequestStatement = defineStatement({ name: 'performed_request', text: PERFORMED });

/** $1 = request id. The same, if it may be performed now. */
export const calledRequestStatement = defineStatement({
  name: 'called_request',
  text: `${PERFORMED} and r.status = 'approved' and r.attempts = 0 and r.use_until > clock_timestamp()`,
});

/**
 * $1 = request id, $2 = outcome, $3 = details (jsonb), $4 = answer or null, $5 = whether it was cut, $6 = caller (jsonb), $7 = change (jsonb). The outcome of
 * a call replaces what time made of it; of a second one nothing is stored.
 */
export const storePerformanceStatement = defineStatement({
  name: 'store_request_performance',
  text: /* sql */ `
    with changed as (
      update change_requests r set outcome = $2, outcome_details = $3::jsonb, outcome_at = clock_timestamp(), seq = r.seq + 1
      where r.request_id = $1 and r.status = 'redeemed' and r.executor = 'assent' and r.outcome_details is null
      returning r.request_id, r.incarnation, r.correlation_id
    ), stored as (
      insert into change_request_results (request_id, result, is_cut, is_error)
      select c.request_id, $4::text, $5::boolean, $2 <> 'succeeded' from changed c where $4::text is not null
      on conflict do nothing
    ), woken as (${wakeRequest('changed')}
    )
    select record_change($6::jsonb, $7::jsonb) as audit_id from changed`,
});

/** $1 = request id. */
export const readResultStatement = defineStatement({
  name: 'request_result',
  text: /* sql */ `
    select r.outcome as status, s.result, coalesce(s.is_cut, false) as is_cut
    from change_requests r left join change_request_results s using (request_id) where r.request_id = $1 and r.executor = 'assent'`,
});
