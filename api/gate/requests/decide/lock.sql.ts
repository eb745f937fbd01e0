import { defineStatement } from '../../../../db/statement.js';
import { APPROVALS, CLOSED_REASON, STATUS } from '../columns.sql.js';

/**
 * $1 = request id, $2 = caller id. Locks the caller, their membership, then the request: a transaction that removes a role takes them in the same order. Decisions
 * about one request wait for each other, and the next statement sees what the one before has written.
 */
export const lockRequestStatement = defineStatement({
  name: 'lock_request',
  text: /* sql */ `
    with caller as materialized (
      select u.user_id from users u where u.user_id = $2 and u.status = 'active' for share
    ), seat as materialized (
      select m.role from memberships m, caller c
      where m.team_id = (select r.team_id from change_requests r where r.request_id = $1) and m.user_id = c.user_id for share of m
    ), held as (
      select r.request_id from change_requests r, (select count(*) as n from seat) s where r.request_id = $1 and s.n >= 0 for no key update of r
    )
    select exists (select from caller) as is_active, (select role from seat) as seat, (select count(*)::int from held) as requests`,
});

/** $1 = request id, $2 = caller id. Runs after the lock. `mine`: the caller's decision of this revision. */
export const lockedRequestStatement = defineStatement({
  name: 'locked_request',
  text: /* sql */ `
    select r.request_id, r.team_id, r.requested_by, r.canonical, r.request_hash, r.operation_hashes, r.revision, r.executor, r.self_ids, r.required_role,
      r.required_approvals, r.allow_self, r.require_code, r.wrong_codes, ${STATUS} as status, ${CLOSED_REASON} as closed_reason, r.seq,
      r.expires_at, r.use_until, r.use_seconds, r.incarnation, r.depth, r.redemption_id, r.redeemed_at, r.outcome, r.outcome_details,
      greatest(r.required_approvals - ${APPROVALS}, 0) as approvals_needed,
      (select t.decisions_signed_in from teams t where t.team_id = r.team_id) as signed_in,
      (select d.decision from change_request_decisions d where d.request_id = r.request_id and d.revision = r.revision and d.user_id = $2) as mine
    from change_requests r where r.request_id = $1`,
});
