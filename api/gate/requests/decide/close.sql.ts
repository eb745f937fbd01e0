import { defineStatement, type Statement } from '../../../../db/statement.js';
import { eventType, kindOfChange } from '../../../platform/changes/make-change.sql.js';
import { wakeRequest } from './decide.sql.js';

/** Requests that one call closes by time. */
export const BATCH = 500;

/** SQL: the text of the row c. jsonb refuses U+0000, and one request that holds it would keep those of all teams open. */
const CONTENT = String.raw`replace(c.canonical, '\u0000', '\ufffd')::jsonb`;

/** SQL: the request of an event, from the row c and its text; `$base` is the address of the web app. */
export const EVENT_REQUEST = (base: string): string => /* sql */ `
  jsonb_build_object('request', jsonb_build_object('request_id', c.request_id, 'team_id', c.team_id, 'title', c.title, 'status', c.status,
    'closed_reason', c.closed_reason,
    'systems', jsonb_path_query_array(${CONTENT}, '$.operations[*].system'),
    'names', jsonb_path_query_array(${CONTENT}, '$.operations[*].name'), 'requirement', ${CONTENT}->'requirement',
    'url', ${base} || '/app/approvals/request/' || c.request_id))`;

export const HASHES = /* sql */ `
  'request_hash', 'sha256:' || encode(c.request_hash, 'hex'), 'revision', c.revision,
  'operation_hashes', (select jsonb_agg('sha256:' || encode(h, 'hex')) from unnest(c.operation_hashes) as h)`;

export const RETURNED =
  'r.request_id, r.team_id, r.requested_by, r.title, r.status, r.closed_reason, r.canonical, r.request_hash, r.operation_hashes, r.revision, r.incarnation, r.correlation_id, r.decided_by';

/**
 * Cancels open requests, each with its trace, and wakes their workflows. $1 = caller (jsonb), $2 = reason, $3 = address of the web app, $4 = user who
 * cancels or null, $5 = comment or null. `condition` selects requests r; its parameters begin at $6. Several are locked in the order of their ids, as
 * in every other statement.
 */
const cancelStatement = (name: string, condition: string): Statement =>
  defineStatement({
    name,
    text: /* sql */ `
    with open as materialized (
      select r.request_id from change_requests r where r.status in ('pending', 'approved') and ${condition}
      order by r.request_id for no key update of r
    ), changed as (
      update change_requests r set status = 'cancelled', closed_reason = $2, decided_by = $4::uuid, ended_at = clock_timestamp(), seq = r.seq + 1
      from open o where r.request_id = o.request_id
      returning ${RETURNED}
    ), woken as (${wakeRequest('changed')}
    ), recorded as (
      select record_changes($1::jsonb, array_agg(make_change(team_id => c.team_id, title => c.title,
        summary => case when $4::uuid is not null then 'cancelled a change request' end,
        ${kindOfChange({ feature: 'requests', action: 'cancel', entityType: 'change_request' })}, entity_id => c.request_id::text,
        details => jsonb_strip_nulls(jsonb_build_object('reason', $2::text, 'comment', $5::text, ${HASHES})),
        event_type => ${eventType('request.cancelled')}, payload => ${EVENT_REQUEST('$3::text')}))) as audit_id
      from changed c having count(*) > 0
    )
    select c.request_id, c.team_id, c.requested_by, c.title, (select count(audit_id)::int from recorded) as recorded from changed c`,
  });

/** $6 = request id. */
export const cancelRequestStatement = cancelStatement('cancel_request', 'r.request_id = $6');
/** $6 = token ids. */
export const cancelOfTokensStatement = cancelStatement('cancel_requests_of_tokens', 'r.token_id = any($6::uuid[])');
/** $6 = team id. */
export const cancelOfTeamStatement = cancelStatement('cancel_requests_of_team', 'r.team_id = $6');
/** $6 = user id, $7 = team id, or null for all teams. */
export const cancelOfRequesterStatement = cancelStatement(
  'cancel_requests_of_requester',
  'r.requested_by = $6 and ($7::uuid is null or r.team_id = $7)',
);

/**
 * $1 = caller (jsonb), $2 = request id, or null for all that are due, $3 = address of the web app. Closes requests past their time, each with its trace,
 * and wakes their workflows. One that is being decided is skipped: the decision sees the time itself.
 */
export const expireRequestsStatement = defineStatement({
  name: 'expire_requests',
  text: /* sql */ `
    with due as (
      select d.request_id from change_requests d
      where d.status in ('pending', 'approved') and coalesce(d.use_until, d.expires_at) <= clock_timestamp() and ($2::uuid is null or d.request_id = $2)
      order by coalesce(d.use_until, d.expires_at) limit ${BATCH} for update skip locked
    ), changed as (
      update change_requests r set status = 'expired', closed_reason = case when r.status = 'pending' then 'time' else 'use_window' end,
        ended_at = clock_timestamp(), seq = r.seq + 1
      from due where r.request_id = due.request_id
      returning ${RETURNED}
    ), woken as (${wakeRequest('(select * from changed where $2::uuid is null)')}
    ), recorded as (
      select record_changes($1::jsonb, array_agg(make_change(team_id => c.team_id, title => c.title,
        ${kindOfChange({ feature: 'requests', action: 'expire', entityType: 'change_request' })}, entity_id => c.request_id::text,
        details => jsonb_build_object('reason', c.closed_reason, ${HASHES}),
        event_type => ${eventType('request.expired')}, payload => ${EVENT_REQUEST('$3::text')}))) as audit_id
      from changed c having count(*) > 0
    )
    select c.request_id, c.team_id, c.requested_by, c.title, (select count(audit_id)::int from recorded) as recorded from changed c`,
});

/**
 * $1 = user id, $2 = team id, or null for all teams, $3 = roles of requirements that the user still meets. Removes the user's approvals
 * of open requests; one that has too few then waits again, if it is not too late, and its approvers are reminded: they took it for decided.
 */
export const voidRequestApprovalsStatement = defineStatement({
  name: 'void_request_approvals',
  text: /* sql */ `
    with open as materialized (
      select r.request_id, r.revision, r.status from change_requests r join change_request_decisions d
        on d.request_id = r.request_id and d.revision = r.revision and d.user_id = $1 and d.decision = 'approved'
      where r.status in ('pending', 'approved') and ($2::uuid is null or r.team_id = $2 and r.required_role <> all($3::text[]))
      order by r.request_id for no key update of r
    ), voided as (
      delete from change_request_decisions d using open o
      where d.request_id = o.request_id and d.revision = o.revision and d.user_id = $1 returning d.request_id
    ), changed as (
      update change_requests r set status = 'pending', use_until = null, seq = r.seq + 1,
        remind_at = case when o.status = 'approved' then clock_timestamp() else r.remind_at end,
        reminded_at = case when o.status <> 'approved' then r.reminded_at end
      from open o where r.request_id = o.request_id
      returning r.request_id, r.incarnation, r.correlation_id
    ), woken as (${wakeRequest('changed')}
    )
    select count(*)::int as voided from voided`,
});
