import { defineStatement } from '../../../../db/statement.js';

/** SQL: wakes the workflow of the requests in `from`, which have an incarnation and a correlation id. */
export const wakeRequest = (from: string): string => /* sql */ `
  insert into outbox (kind, subject, payload, correlation_id)
  select 'request.wake', w.request_id::text, jsonb_build_object('request_id', w.request_id, 'incarnation', w.incarnation), w.correlation_id from ${from} w`;

/**
 * $1 = request id, $2 = caller id, $3 = hash that was read, $4 = roles that count, $5 = comment or null, $6 = caller (jsonb), $7 = change if this approval
 * is the last one needed (jsonb). Runs after the lock, so the snapshot holds every approval that was given. No row: it has expired.
 */
export const approveRequestStatement = defineStatement({
  name: 'approve_request',
  text: /* sql */ `
    with open as materialized (
      select o.* from (select r.*, clock_timestamp() as at from change_requests r where r.request_id = $1) o
      where o.status = 'pending' and o.request_hash = $3::bytea and o.expires_at > o.at
    ), mine as (
      insert into change_request_decisions (request_id, revision, user_id, decision, request_hash, comment, decided_at)
      select o.request_id, o.revision, $2, 'approved', o.request_hash, $5::text, o.at from open o
      on conflict do nothing returning user_id
    ), counted as (
      select count(*)::int as approvals from (
        select m.user_id from mine m
        union select d.user_id from change_request_decisions d join open o on d.request_id = o.request_id and d.revision = o.revision
        where d.decision = 'approved'
      ) a join open o on o.allow_self or a.user_id <> all(o.self_ids)
      join users u on u.user_id = a.user_id and u.status = 'active'
      join memberships m on m.team_id = o.team_id and m.user_id = a.user_id and m.role = any($4::text[])
    ), verdict as (
      select greatest(o.required_approvals - c.approvals, 0) as needed, exists (select from mine) as is_news from open o, counted c
    ), changed as (
      update change_requests r set seq = r.seq + 1, decided_by = $2,
        status = case when v.needed = 0 then 'approved' else 'pending' end,
        use_until = case when v.needed = 0 then o.at + make_interval(secs => o.use_seconds) end
      from open o, verdict v where r.request_id = o.request_id and (v.is_news or v.needed = 0)
      returning r.request_id, r.status, r.seq, r.incarnation, r.correlation_id
    ), woken as (${wakeRequest('changed')}
    ), recorded as (
      select record_change($6::jsonb, case when v.needed = 0 then $7::jsonb else ($7::jsonb - 'event') end
        || jsonb_build_object('details', $7::jsonb->'details' || jsonb_build_object('approvals_needed', v.needed))) as audit_id
      from verdict v, changed
    )
    select v.needed, c.status, c.seq, (select audit_id from recorded) as audit_id from verdict v, changed c`,
});

/**
 * $1 = request id, $2 = caller id, $3 = hash that was read, or null for any, $4 = comment or null, $5 = caller (jsonb), $6 = change (jsonb),
 * $7 = closed reason. Runs after the lock.
 */
export const rejectRequestStatement = defineStatement({
  name: 'reject_request',
  text: /* sql */ `
    with changed as (
      update change_requests r set status = 'rejected', closed_reason = $7, decided_by = $2, ended_at = clock_timestamp(), seq = r.seq + 1
      where r.request_id = $1 and r.status = 'pending' and ($3::bytea is null or r.request_hash = $3)
      returning r.request_id, r.revision, r.request_hash, r.ended_at, r.incarnation, r.correlation_id
    ), mine as (
      insert into change_request_decisions (request_id, revision, user_id, decision, request_hash, comment, decided_at)
      select c.request_id, c.revision, $2, 'rejected', c.request_hash, $4::text, c.ended_at from changed c
      on conflict (request_id, revision, user_id) do update set decision = 'rejected', comment = excluded.comment, decided_at = excluded.decided_at
    ), woken as (${wakeRequest('changed')}
    )
    select record_change($5::jsonb, $6::jsonb) as audit_id from changed`,
});

/** $1 = request id. Counts a wrong code. */
export const countWrongCodeStatement = defineStatement({
  name: 'count_wrong_code',
  text: `update change_requests set wrong_codes = wrong_codes + 1 where request_id = $1 and status = 'pending' returning wrong_codes`,
});

/**
 * $1 = request id, $2 = canonical text, $3 = hash, $4 = hashes of the operations, $5 = hashes of their places, $6 = systems, $7 = risk or null,
 * $8 = required role, $9 = required approvals, $10 = allow self, $11 = require code, $12 = editor, $13 = caller (jsonb), $14 = change (jsonb),
 * $15 = seconds to use it. Runs after the lock. Approvals name a revision, so those of the one before are void.
 */
export const editRequestStatement = defineStatement({
  name: 'edit_request',
  text: /* sql */ `
    with changed as (
      update change_requests r set canonical = $2, request_hash = $3::bytea, operation_hashes = $4::bytea[], place_hashes = $5::bytea[],
        systems = $6::text[], risk = $7, required_role = $8, required_approvals = $9, allow_self = $10, require_code = $11, use_seconds = $15,
        self_ids = add_people(r.self_ids, array[$12::uuid]), revision = r.revision + 1, status = 'pending', use_until = null, wrong_codes = 0,
        seq = r.seq + 1
      where r.request_id = $1 and r.status in ('pending', 'approved') and r.expires_at > clock_timestamp()
        and (r.use_until is null or r.use_until > clock_timestamp())
      returning r.request_id, r.incarnation, r.correlation_id
    ), woken as (${wakeRequest('changed')}
    )
    select record_change($13::jsonb, $14::jsonb) as audit_id from changed`,
});
