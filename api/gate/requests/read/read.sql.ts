import { defineStatement } from '../../../../db/statement.js';
import { COLUMNS, STATUS } from '../columns.sql.js';

/** $1 = request ids, $2 = caller id. Requests with the caller's role in their team. */
export const readRequestsStatement = defineStatement({
  name: 'read_requests',
  text: /* sql */ `
    select ${COLUMNS}, (select m.role from memberships m where m.team_id = r.team_id and m.user_id = $2) as seat
    from change_requests r where r.request_id = any($1::uuid[])`,
});

/**
 * $1 = caller id, $2 = roles by what they may approve (jsonb), $3 = limit. Counts what waits for the caller, of what they have not approved yet.
 */
export const countDecidableStatement = defineStatement({
  name: 'count_decidable_requests',
  text: /* sql */ `
    select count(*)::int as waiting from (
      select from memberships s cross join lateral (
        select from change_requests r
        where r.team_id = s.team_id and r.status in ('pending', 'approved') and r.status = 'pending' and r.expires_at > now()
          and $2::jsonb->s.role ? r.required_role and (r.allow_self or $1 <> all(r.self_ids))
          and not exists (select from change_request_decisions d
            where d.request_id = r.request_id and d.revision = r.revision and d.user_id = $1)
        limit $3) r
      where s.user_id = $1 limit $3
    ) few`,
});

/** Requests of a team, the newest before one, among which the statement below looks. */
const LOOKED_AT = 500;

/**
 * $1 = request id, $2 = caller id. A request with the caller's role, and `earlier`: those of its team within 7 days for one of the same operations,
 * newest first. It looks at so many only, and in the order of the team's own index (with `=` the planner may walk the rows of all teams instead), so that
 * no requester makes the reading of a request costly.
 */
export const readRequestStatement = defineStatement({
  name: 'read_request',
  text: /* sql */ `
    select ${COLUMNS}, (select m.role from memberships m where m.team_id = r.team_id and m.user_id = $2) as seat,
      (select coalesce(json_agg(json_build_object('request_id', s.request_id, 'status', s.status, 'at', s.at)), '[]') from (
        select e.request_id, ${STATUS.replaceAll('r.', 'e.')} as status, coalesce(e.ended_at, e.created_at) as at from (
          select e.* from change_requests e where e.team_id = any(array[r.team_id]) and e.request_id < r.request_id
          order by e.team_id, e.request_id desc limit ${LOOKED_AT}
        ) e
        where e.operation_hashes && r.operation_hashes and e.created_at > clock_timestamp() - interval '7 days'
        order by e.request_id desc limit 10
      ) s) as earlier
    from change_requests r where r.request_id = $1`,
});

/**
 * $1 = caller id, $2 = roles that may read, $3 = limit, $4 = request id after which the list continues, or null, $5 = team id or null, $6 = status or
 * null, $7 = system or null, $8 = own ones only, $9 = those that the caller may approve only, $10 = roles by what they may approve (jsonb), $11 = bytes of
 * requests, of which the first one is read anyway. `found` counts the rows without the limit of bytes.
 */
export const listRequestsStatement = defineStatement({
  name: 'list_requests',
  text: /* sql */ `
    with found as (
      select r.request_id, s.role from memberships s cross join lateral (
        select r.request_id from change_requests r
        where r.team_id = any(array[s.team_id]) and ($4::uuid is null or r.request_id < $4) and ($6::text is null or ${STATUS} = $6)
          and ($7::text is null or $7 = any(r.systems)) and (not $8::boolean or r.requested_by = $1)
          and (not $9::boolean or (${STATUS} = 'pending' and $10::jsonb->s.role ? r.required_role and (r.allow_self or $1 <> all(r.self_ids))))
        order by r.team_id, r.request_id desc limit $3) r
      where s.user_id = $1 and s.role = any($2::text[]) and ($5::uuid is null or s.team_id = $5)
      order by r.request_id desc limit $3
    ), sized as (
      select f.*, count(*) over ()::int as found, row_number() over newest as place, sum(octet_length(r.canonical)) over newest as bytes
      from found f join change_requests r using (request_id) window newest as (order by f.request_id desc)
    )
    select ${COLUMNS}, f.role as seat, f.found
    from sized f join change_requests r using (request_id) where f.bytes <= $11::int or f.place = 1 order by r.request_id desc`,
});
