import { defineStatement } from '../../../../db/statement.js';
import { eventType, kindOfChange } from '../../../platform/changes/make-change.sql.js';
import { wakeRequest } from '../decide/decide.sql.js';
import { BATCH, EVENT_REQUEST, HASHES, RETURNED } from '../decide/close.sql.js';

/** $1 = request id. Claims the reminder of a request, so that it is sent once. */
export const claimRequestReminderStatement = defineStatement({
  name: 'claim_request_reminder',
  text: /* sql */ `
    update change_requests set reminded_at = clock_timestamp()
    where request_id = $1 and status = 'pending' and reminded_at is null and remind_at <= clock_timestamp() and expires_at > clock_timestamp()
    returning canonical, self_ids`,
});

/**
 * $1 = caller (jsonb), $2 = request id, or null for all that are due, $3 = address of the web app, $4 = whether that request is not to wait for its time.
 * Ends what nobody has reported as unknown.
 */
export const forgetOutcomesStatement = defineStatement({
  name: 'forget_request_outcomes',
  text: /* sql */ `
    with due as (
      select d.request_id from change_requests d
      where d.status = 'redeemed' and d.outcome is null and (d.outcome_due <= clock_timestamp() or $4::boolean) and ($2::uuid is null or d.request_id = $2)
      order by d.outcome_due limit ${BATCH} for update skip locked
    ), changed as (
      update change_requests r set outcome = 'unknown', outcome_at = clock_timestamp(), seq = r.seq + 1
      from due where r.request_id = due.request_id
      returning ${RETURNED}
    ), woken as (${wakeRequest('(select * from changed where $2::uuid is null)')}
    ), recorded as (
      select record_changes($1::jsonb, array_agg(make_change(team_id => c.team_id, title => c.title,
        ${kindOfChange({ feature: 'requests', action: 'report', entityType: 'change_request' })}, entity_id => c.request_id::text,
        details => jsonb_build_object('outcome', 'unknown', ${HASHES}),
        event_type => ${eventType('request.finished')}, payload => ${EVENT_REQUEST('$3::text')}))) as audit_id
      from changed c having count(*) > 0
    )
    select count(*)::int as unknown, (select count(audit_id)::int from recorded) as recorded from changed`,
});

/** $1 = request id. What operators see, and when it changes by time next. */
export const viewRequestStatement = defineStatement({
  name: 'view_request',
  text: /* sql */ `
    select r.status as state, r.source, r.systems, cardinality(r.operation_hashes) as operations, r.required_role, r.required_approvals, r.closed_reason as reason,
      r.outcome, r.status = 'approved' and r.executor = 'assent' and r.use_until > clock_timestamp() as performs, r.decided_by, r.redeemed_by, coalesce(r.use_until, r.expires_at) as until,
      (select count(*)::int from change_request_decisions d where d.request_id = r.request_id and d.revision = r.revision
        and d.decision = 'approved') as approvals,
      r.status = 'pending' and r.remind_at is not null and r.reminded_at is null as reminds,
      ceil(greatest(extract(epoch from case
          when r.status = 'redeemed' then r.outcome_due
          when r.status = 'approved' then r.use_until
          when r.status = 'pending' and r.remind_at is not null and r.reminded_at is null then r.remind_at
          else r.expires_at end - clock_timestamp()) * 1000, 0))::float8 as ms_left
    from change_requests r where r.request_id = $1`,
});

/** $1 = leased outbox rows. */
export const requestDispatchesStatement = defineStatement({
  name: 'request_dispatches',
  text: /* sql */ `
    select o.outbox_id, o.kind, o.correlation_id, r.request_id, r.team_id, r.requested_by, r.source, r.systems, r.status, r.outcome, r.depth,
      r.expires_at, cardinality(r.operation_hashes) as operations
    from outbox o join change_requests r on r.request_id = (o.payload->>'request_id')::uuid where o.outbox_id = any($1::bigint[])`,
});

/** SQL over requests r: something of them still changes by time. */
const OPEN = `(r.status in ('pending', 'approved') or (r.status = 'redeemed' and r.outcome is null))`;

/** $1 = request id after which to continue, $2 = row limit. Requests with something to wait for whose start is not in the outbox. */
export const openRequestsStatement = defineStatement({
  name: 'open_requests',
  text: /* sql */ `
    select r.request_id from change_requests r
    where ${OPEN} and r.request_id > $1
      and not exists (select from outbox o where o.kind = 'request.start' and o.subject = r.request_id::text)
    order by r.request_id limit $2`,
});

/** $1 = request ids. Enqueues their starts again. */
export const restartRequestsStatement = defineStatement({
  name: 'restart_requests',
  text: /* sql */ `
    with restarted as (
      update change_requests r set incarnation = r.incarnation + 1 where r.request_id = any($1::uuid[]) and ${OPEN}
      returning r.request_id, r.incarnation, r.correlation_id
    )
    insert into outbox (kind, subject, payload, correlation_id)
    select 'request.start', r.request_id::text, jsonb_build_object('request_id', r.request_id, 'incarnation', r.incarnation), r.correlation_id
    from restarted r returning outbox_id`,
});

/** $1 = days, $2 = row limit. Deletes requests that ended so long ago; the audit log keeps their hashes. */
export const deleteOldRequestsStatement = defineStatement({
  name: 'delete_old_requests',
  text: /* sql */ `
    with deleted as (
      delete from change_requests where request_id = any(array(
        select request_id from change_requests where ended_at < clock_timestamp() - make_interval(days => $1)
        order by ended_at limit $2 for update skip locked
      )) returning request_id
    )
    select count(*)::int as requests from deleted`,
});

/** $1 = row limit. Deletes answers after a week. */
export const deleteOldResultsStatement = defineStatement({
  name: 'delete_old_request_results',
  text: /* sql */ `
    with deleted as (
      delete from change_request_results where request_id = any(array(
        select request_id from change_request_results where stored_at < clock_timestamp() - interval '7 days'
        order by stored_at limit $1 for update skip locked
      )) returning request_id
    )
    select count(*)::int as results from deleted`,
});
