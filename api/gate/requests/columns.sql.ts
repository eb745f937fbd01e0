/** SQL over change requests r: their state at this moment, though the row may not have been closed yet. */
export const STATUS = /* sql */ `
  case when r.status = 'pending' and r.expires_at <= clock_timestamp() then 'expired'
    when r.status = 'approved' and r.use_until <= clock_timestamp() then 'expired' else r.status end`;

/** SQL over r: why it is closed at this moment. */
export const CLOSED_REASON = /* sql */ `
  case when r.status = 'pending' and r.expires_at <= clock_timestamp() then 'time'
    when r.status = 'approved' and r.use_until <= clock_timestamp() then 'use_window' else r.closed_reason end`;

/** SQL over r: the latest decisions of each user and revision, oldest first. */
const DECISIONS = /* sql */ `
  (select coalesce(json_agg(json_build_object('user_id', d.user_id, 'decision', d.decision, 'at', d.decided_at, 'comment', d.comment,
    'revision', d.revision) order by d.decided_at), '[]') from change_request_decisions d where d.request_id = r.request_id)`;

/** SQL over r: approvals of the present text that count. A user who loses the role loses the approval. */
export const APPROVALS = /* sql */ `
  (select count(*)::int from change_request_decisions d where d.request_id = r.request_id and d.revision = r.revision
    and d.decision = 'approved')`;

/** Columns of change requests r as the API shows them. */
export const COLUMNS = /* sql */ `
  r.request_id, r.team_id, r.requested_by, r.token_id, r.source, r.canonical, r.request_hash, r.operation_hashes, r.revision, r.executor,
  r.self_ids, r.required_role, r.required_approvals, r.allow_self, r.require_code, ${STATUS} as status, ${CLOSED_REASON} as closed_reason,
  r.seq, r.created_at, r.expires_at, r.use_seconds, r.use_until, r.redeemed_at, r.redeemed_by, r.ended_at, r.outcome, r.outcome_at,
  r.outcome_details, (select t.decisions_signed_in from teams t where t.team_id = r.team_id) as signed_in,
  ${DECISIONS} as decisions, greatest(r.required_approvals - ${APPROVALS}, 0) as approvals_needed`;
