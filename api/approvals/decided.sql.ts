import { defineStatement } from '../../db/statement.js';
import { STATUS } from '../gate/requests/columns.sql.js';

/** Rows of the log that one question examines of each team, beyond those of its page: what it may not show takes no more. */
const MORE = 100;
/** Bytes of a gate's text of which the headline is made. */
const MAX_TEXT = 16_000;
/** Characters of the reason of a failure; the page of the run shows all. */
const MAX_FAILURE = 300;

const COLUMNS = 'd.decision_id, d.kind, d.team_id, d.state, d.requested_at, d.decided_by, d.subject_id, d.gate_index';
/** SQL: the newest rows of the log before $6 that a condition finds, in the order of its index. */
const newest = (condition: string, order: string): string => /* sql */ `
        select ${COLUMNS} from decision_log d where ${condition} and d.decision_id < $6::uuid order by ${order}d.decision_id desc limit $3::int + ${MORE}`;

/** SQL over rows d of the log and memberships of the caller: what it was about, if the caller may read that today. */
const SUBJECTS = /* sql */ `
      select r.automation_name as title, g.message, coalesce(r.triggered_by, r.creator_id) as requested_by, r.creator_id,
        case when octet_length(g.staged) <= ${MAX_TEXT} then g.staged end as staged, g.staged_hash, r.status, r.skip_reason as closed_reason, null as outcome,
        case when r.status = 'failed' then left(coalesce((select a.error->>'message' from run_actions a
          where a.run_id = r.run_id and a.status = 'failed' order by a.index limit 1), r.error->>'message'), ${MAX_FAILURE}) end as failure,
        case d.state when 'rejected' then case when g.decision = 'rejected' then g.reason end
          when 'approved' then (select p.comment from gate_approvals p
            where p.run_id = g.run_id and p.gate_index = g.gate_index and p.user_id = d.decided_by) end as comment,
        array(select p.user_id from gate_approvals p where p.run_id = g.run_id and p.gate_index = g.gate_index order by p.approved_at) as approved_by
      from automation_runs r join gates g on g.run_id = r.run_id and g.gate_index = d.gate_index
      where d.kind = 'gate' and r.run_id = d.subject_id and case when r.team_id is null then r.creator_id = $1 else r.team_id = d.team_id end
      union all
      select p.summary, null, p.owner_id, null, null, null, p.status, p.closed_reason, null, null, p.comment, array[]::uuid[]
      from agent_plans p where d.kind = 'plan' and p.action_id = d.subject_id
        and case when p.team_id is null then p.owner_id = $1 else p.team_id = d.team_id and d.role = any($2::text[]) end
        and p.team_ids <@ (select array_agg(m.team_id) || array[]::uuid[] from memberships m where m.user_id = $1)
      union all
      select r.title, null, r.requested_by, null, null, null, ${STATUS}, r.closed_reason, r.outcome, null,
        (select c.comment from change_request_decisions c
          where c.request_id = r.request_id and c.user_id = d.decided_by order by c.revision desc limit 1),
        array(select c.user_id from change_request_decisions c
          where c.request_id = r.request_id and c.revision = r.revision and c.decision = 'approved' order by c.decided_at)
      from change_requests r where d.kind = 'request' and r.request_id = d.subject_id and r.team_id = d.team_id and d.role = any($2::text[])`;

/**
 * $1 = caller id, $2 = roles that may read the plans and requests of a team, $3 = limit, $4 = team id or null, $5 = kinds, $6 = the first id of the log
 * that is not listed, $7 = user who decided, or null. Newest first: rows of the caller's teams and of their personal runs and plans. A constant `null` would
 * hide the index, as `=` may (the planner may walk the rows of all teams): `any` keeps to it. `bound`: what is older was not examined.
 */
export const decidedStatement = defineStatement({
  name: 'decided',
  text: /* sql */ `
    with places as materialized (
      select m.team_id, m.role from memberships m where m.user_id = $1 and ($4::uuid is null or m.team_id = $4)
    ), read as materialized (
      select l.*, p.role from places p cross join lateral (
        (${newest('$7::uuid is null and d.team_id = any(array[p.team_id])', 'd.team_id desc, ')})
        union all
        (${newest('d.decided_by = $7 and d.team_id = any(array[p.team_id])', 'd.team_id desc, d.decided_by desc, ')})
      ) l
      union all
      select l.*, null from (${newest('$4::uuid is null and ($7::uuid is null or $7 = $1) and d.team_id is null and d.user_id = any(array[$1::uuid])', 'd.user_id desc, ')}) l
    ), bound as materialized (
      select max(b.lowest::text)::uuid as id from (
        select min(r.decision_id::text) as lowest from read r group by r.team_id having count(*) >= $3::int + ${MORE}
      ) b
    ), found as (
      select d.*, s.* from read d cross join lateral (${SUBJECTS}) s
      where d.kind = any($5::text[]) and ($7::uuid is null or d.decided_by = $7) and d.decision_id >= coalesce((select b.id from bound b), uuid_at('epoch'))
      order by d.decision_id desc limit $3
    )
    select b.id as bound, f.*, uuid_extract_timestamp(f.decision_id) as decided_at from bound b left join found f on true order by f.decision_id desc`,
});
