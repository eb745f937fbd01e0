import { defineStatement } from '../../db/statement.js';
import { EXCLUDED, SIGNED_IN } from '../automation/runs/approvals/excluded.sql.js';
import { STAGED_HASH } from '../automation/runs/approvals/lock-gate.sql.js';

/** SQL: whether a deadline fits the state $6, and follows the cursor. Each index is read in the order of the list. */
const NEXT = (deadline: string, id: string): string => /* sql */ `
  ($6 = 'expired') = (${deadline} <= now()) and (${deadline}, ${id}) > (select l.at, l.id from last l) order by ${deadline}, ${id} limit $3`;
/**
 * $1 = caller id, $2 = roles that may read the plans and requests of a team, $3 = limit, $4 = id after which the list continues, or null, $5 = team id or null,
 * $6 = `pending` or `expired`, $7 = kinds, or null for all. Gates, plans and requests, nearest deadline first. An id that the caller may not see begins the list anew.
 */
export const waitingStatement = defineStatement({
  name: 'waiting_decisions',
  text: /* sql */ `
    with seats as materialized (
      select m.team_id, m.role from memberships m where m.user_id = $1 and ($5::uuid is null or m.team_id = $5)
    ), last as materialized (
      select coalesce(max(c.at), '-infinity') as at, coalesce(max(c.id::text), '00000000-0000-0000-0000-000000000000')::uuid as id from (
        select r.gate_expires_at as at, r.run_id as id from automation_runs r where r.run_id = $4 and r.gate_expires_at is not null
          and case when r.team_id is null then r.creator_id = $1 else r.team_id in (select s.team_id from seats s) end
        union all
        select p.expires_at, p.action_id from agent_plans p where p.action_id = $4
          and (p.owner_id = $1 or p.team_id in (select s.team_id from seats s where s.role = any($2::text[])))
        union all
        select r.expires_at, r.request_id from change_requests r where r.request_id = $4
          and r.team_id in (select s.team_id from seats s where s.role = any($2::text[]))
      ) c
    ), found as (
      (select 'gate' as kind, r.run_id as id, r.at from seats s cross join lateral (
        select r.run_id, r.gate_expires_at as at from automation_runs r
        where r.status = 'paused' and r.team_id = s.team_id and ${NEXT('r.gate_expires_at', 'r.run_id')}) r
        where $7::text[] is null or 'gate' = any($7::text[]))
      union all
      (select 'gate', r.run_id, r.gate_expires_at from automation_runs r
        where r.status = 'paused' and r.team_id is null and r.creator_id = $1 and $5::uuid is null and ($7::text[] is null or 'gate' = any($7::text[]))
          and ${NEXT('r.gate_expires_at', 'r.run_id')})
      union all
      (select 'plan', p.action_id, p.expires_at from seats s cross join lateral (
        select p.action_id, p.expires_at from agent_plans p
        where p.team_id = s.team_id and p.status = 'staged' and ${NEXT('p.expires_at', 'p.action_id')}) p
        where s.role = any($2::text[]) and $6 = 'pending' and ($7::text[] is null or 'plan' = any($7::text[])))
      union all
      (select 'plan', p.action_id, p.expires_at from agent_plans p
        where p.owner_id = $1 and p.status = 'staged' and $6 = 'pending' and ($5::uuid is null or $5 = any(p.team_ids))
          and ($7::text[] is null or 'plan' = any($7::text[])) and ${NEXT('p.expires_at', 'p.action_id')})
      union all
      (select 'request', q.request_id, q.expires_at from seats s cross join lateral (
        select q.request_id, q.expires_at from change_requests q
        where q.team_id = s.team_id and q.status in ('pending', 'approved') and q.status = 'pending'
          and ${NEXT('q.expires_at', 'q.request_id')}) q
        where s.role = any($2::text[]) and $6 = 'pending' and ($7::text[] is null or 'request' = any($7::text[])))
    )
    select kind, id, at from found order by at, id limit $3`,
});

/**
 * $1 = caller id, $2 = run ids, $3 = roles in which a creator may act. The latest gate of each run that the caller may see, open or ended.
 */
export const gateRecordsStatement = defineStatement({
  name: 'gate_records',
  text: /* sql */ `
    select r.run_id, r.automation_id, r.automation_name, r.team_id, r.creator_id, r.triggered_by, r.trigger_type, r.status as run_status,
      g.gate_index, g.message, g.required_role, g.required_approvals, g.allow_self_approval, ${EXCLUDED} as excluded, people_of_run(r.run_id) as behind,
      ${SIGNED_IN} as signed_in,
      g.requested_at, g.expires_at, g.expires_at <= now() as expired, g.decision, g.decided_by, g.decided_at, g.reason,
      ${STAGED_HASH} as staged_hash, m.role as seat, not (c.status = 'active'
        and (r.team_id is null or coalesce(cm.role = any($3::text[]), false))) as creator_left,
      (select coalesce(json_agg(json_build_object('user_id', p.user_id, 'at', p.approved_at, 'comment', p.comment) order by p.approved_at), '[]')
        from gate_approvals p where p.run_id = g.run_id and p.gate_index = g.gate_index) as approvals
    from automation_runs r join users c on c.user_id = r.creator_id
    cross join lateral (select * from gates g where g.run_id = r.run_id order by g.gate_index desc limit 1) g
    left join memberships m on m.team_id = r.team_id and m.user_id = $1
    left join memberships cm on cm.team_id = r.team_id and cm.user_id = r.creator_id
    where r.run_id = any($2::uuid[]) and (m.role is not null or (r.team_id is null and r.creator_id = $1))`,
});
