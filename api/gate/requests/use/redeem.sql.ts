import { defineStatement } from '../../../../db/statement.js';
import { wakeRequest } from '../decide/decide.sql.js';

/** Hours until a request without a report has the outcome `unknown`. */
const REPORT_HOURS = 24;

/** SQL over a used request r: what its receipt says. */
export const REDEMPTION = /* sql */ `
  r.request_id, r.team_id, r.request_hash, r.revision, r.required_role as role, r.allow_self, r.canonical, r.redemption_id, r.redeemed_at,
  r.receipt_seconds, r.key_id,
  (select coalesce(json_agg(json_build_object('user_id', d.user_id, 'at', d.decided_at) order by d.decided_at, d.user_id), '[]')
    from change_request_decisions d where d.request_id = r.request_id and d.revision = r.revision and d.decision = 'approved') as approved_by`;

/**
 * $1 = request id, $2 = redemption id, $3 = caller id, $4 = hash, $5 = id of the key that signs, $6 = seconds of the receipt, $7 = token id or null,
 * $8 = caller (jsonb), $9 = change (jsonb). Uses an approval once. No row: not approved, too late, another hash, or the redemption id has another
 * request. The whole second is what the receipt says, so that it is the same when it is signed again.
 */
export const redeemRequestStatement = defineStatement({
  name: 'redeem_request',
  text: /* sql */ `
    with changed as (
      update change_requests r set status = 'redeemed', redemption_id = $2, redeemed_by = $3, redeemed_token = $7::uuid,
        redeemed_at = date_trunc('second', clock_timestamp()), key_id = $5, receipt_seconds = $6, ended_at = clock_timestamp(),
        outcome_due = clock_timestamp() + interval '${REPORT_HOURS} hours', seq = r.seq + 1
      where r.request_id = $1 and r.status = 'approved' and r.use_until > clock_timestamp() and r.request_hash = $4::bytea
        and not exists (select from change_requests o where o.team_id = r.team_id and o.redemption_id = $2)
      returning r.*
    ), woken as (${wakeRequest('changed')}
    )
    select ${REDEMPTION}, record_change($8::jsonb, $9::jsonb) as audit_id from changed r`,
});

/** $1 = request id. A used request, of which nothing that the receipt says changes any more. */
export const redemptionStatement = defineStatement({
  name: 'redemption',
  text: /* sql */ `
    select ${REDEMPTION} from change_requests r where r.request_id = $1 and r.status = 'redeemed'`,
});

/**
 * $1 = request id, $2 = outcome, $3 = details (jsonb), $4 = caller (jsonb), $5 = change (jsonb). A report replaces what time made of it. No row: it was
 * reported before, or seven days are over.
 */
export const reportOutcomeStatement = defineStatement({
  name: 'report_outcome',
  text: /* sql */ `
    with changed as (
      update change_requests r set outcome = $2, outcome_details = $3::jsonb, outcome_at = clock_timestamp(), seq = r.seq + 1
      where r.request_id = $1 and r.status = 'redeemed' and r.outcome_details is null
        and r.redeemed_at > clock_timestamp() - interval '7 days'
      returning r.request_id, r.incarnation, r.correlation_id
    ), woken as (${wakeRequest('changed')}
    )
    select record_change($4::jsonb, $5::jsonb) as audit_id from changed`,
});
