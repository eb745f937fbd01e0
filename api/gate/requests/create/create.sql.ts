import { defineStatement } from '../../../../db/statement.js';

/**
 * $1 = team id, $2 = caller id, $3 = token id or null. Account, token and role last until the commit, so that a transaction that takes one of them away
 * closes this request too; and a caller's requests are made one after the other, so that the limits are exact. No row: no such team.
 */
export const lockRequesterStatement = defineStatement({
  name: 'lock_requester',
  text: /* sql */ `
    with caller as materialized (
      select u.user_id from users u where u.user_id = $2 and u.status = 'active' for share
    ), token as materialized (
      select k.token_id from personal_access_tokens k, caller where k.token_id = $3::uuid and k.revoked_at is null for share of k
    ), seat as materialized (
      select m.role from memberships m, caller c, (select count(*) as n from token) k
      where m.team_id = $1 and m.user_id = c.user_id and k.n >= 0 for share of m
    ), turn as materialized (
      select pg_advisory_xact_lock(hashtextextended('change request of ' || $2::uuid::text, 0)) from (select count(*) from seat) s
    )
    select (select role from seat) as seat, exists (select from caller) and ($3::uuid is null or exists (select from token)) as is_active,
      (select count(*)::int from turn) as turns from teams t where t.team_id = $1 and t.deleted_at is null`,
});

/**
 * $1 = team id, $2 = caller id, $3 = hashes of the operations, $4 = hashes of their places. Runs after the lock: counts what the caller and the team
 * have open, and what people have refused. `rules` are those of the team in order.
 */
export const openingStatement = defineStatement({
  name: 'request_opening',
  text: /* sql */ `
    select date_trunc('milliseconds', clock_timestamp()) as now,
      (select count(*)::int from (select from change_requests r where r.requested_by = $2 and r.status in ('pending', 'approved')
        limit 1000) few) as own,
      (select count(*)::int from (select from change_requests r where r.team_id = $1 and r.status in ('pending', 'approved')
        limit 1000) few) as of_team,
      (select coalesce(max(n), 0)::int from (select count(*) as n from change_requests r cross join lateral unnest(r.place_hashes) as p(hash)
        where r.requested_by = $2 and r.team_id = $1 and r.status in ('pending', 'approved') and p.hash = any($4::bytea[]) group by p.hash) same) as same,
      (select coalesce(max(n), 0)::int from (select count(*) as n from change_requests r cross join lateral unnest(r.operation_hashes) as o(hash)
        where r.requested_by = $2 and r.team_id = $1 and r.status = 'rejected' and r.ended_at > clock_timestamp() - interval '24 hours'
          and o.hash = any($3::bytea[]) group by o.hash) refused) as refused,
      (select coalesce(json_agg(to_jsonb(u) - 'team_id' - 'position' order by u.position), '[]') from request_rules u where u.team_id = $1) as rules`,
});

/**
 * $1 = the request (jsonb), $2 = canonical text, $3 = hash, $4 = hashes of the operations, $5 = hashes of their places, $6 = caller (jsonb),
 * $7 = change (jsonb). Writes the request with its trace and its start. A reminder comes at half time, if that is an hour or more.
 */
export const insertRequestStatement = defineStatement({
  name: 'insert_request',
  text: /* sql */ `
    with request as (
      insert into change_requests (request_id, team_id, requested_by, token_id, source, executor, canonical, request_hash, operation_hashes,
        place_hashes, systems, title, risk, self_ids, required_role, required_approvals, allow_self, require_code, created_at, expires_at, remind_at,
        use_seconds, depth, correlation_id, upstream_id, call_hash, mailed_at)
      select r.request_id, r.team_id, r.requested_by, r.token_id, r.source, r.executor, $2::text, $3::bytea, $4::bytea[], $5::bytea[], r.systems,
        r.title, r.risk, people_of_caller($6::jsonb), r.required_role, r.required_approvals, r.allow_self, r.require_code,
        r.created_at, r.expires_at,
        case when r.expires_at - r.created_at >= interval '2 hours' then r.created_at + (r.expires_at - r.created_at) / 2 end,
        r.use_seconds, r.depth, r.correlation_id, r.upstream_id, decode(r.call_hash, 'hex'),
        -- One mail about the requests of one requester in five minutes: an earlier one reached all who may approve this one.
        case when not exists (select from change_requests o where o.requested_by = r.requested_by and o.team_id = r.team_id
          -- Ids tell the time: of one who asks a lot, only the latest are looked at.
          and o.request_id > (select uuidv7(interval '-15 minutes'))
          and o.mailed_at > r.created_at - interval '5 minutes' and o.required_role = any(r.lower_roles)) then r.created_at end
      from jsonb_to_record($1::jsonb) as r(request_id uuid, team_id uuid, requested_by uuid, token_id uuid, source text, executor text,
        systems text[], title text, risk text, required_role text, required_approvals integer, allow_self boolean, require_code boolean,
        created_at timestamptz, expires_at timestamptz, use_seconds integer, depth integer, correlation_id uuid, upstream_id uuid, call_hash text,
        lower_roles text[])
      returning request_id, correlation_id, self_ids, mailed_at
    ), started as (
      insert into outbox (kind, subject, payload, correlation_id)
      select 'request.start', r.request_id::text, jsonb_build_object('request_id', r.request_id, 'incarnation', 1), r.correlation_id from request r
    ), recorded as (
      select record_change($6::jsonb, $7::jsonb) as audit_id from request
    )
    select r.self_ids, r.mailed_at is not null as mails, (select audit_id from recorded) as audit_id from request r`,
});
