import { defineStatement } from '../../../../db/statement.js';
import { EXCLUDED } from './excluded.sql.js';
import { STAGED_HASH } from './lock-gate.sql.js';

/** SQL over automation_runs r: waiting runs. Each team is read in deadline order from an index. */
const FIRST = /* sql */ `order by r.gate_expires_at, r.run_id limit $2`;
const AFTER_LAST = /* sql */ `(r.gate_expires_at, r.run_id) >
  (coalesce((select gate_expires_at from last), '-infinity'), coalesce((select run_id from last), '00000000-0000-0000-0000-000000000000'))`;
const PERSONAL = /* sql */ `r.status = 'paused' and r.team_id is null and r.creator_id = $1`;

/**
 * Selects the gates of the runs in `waiting`, the caller's role in each team, and the `total`, null if it is not counted. `signed`: the teams in which
 * only signed-in people decide.
 */
const ROWS = /* sql */ `
    select r.run_id, r.automation_id, r.automation_name, r.automation_version, a.version as current_version, r.team_id, r.project_id, r.trigger_type, r.creator_id,
      g.gate_index, g.reopened, g.message, g.required_role, g.required_approvals, ${EXCLUDED} as excluded, g.signed_in or coalesce(r.team_id in (select team_id from signed), false) as signed_in, g.requested_at, g.expires_at,
      g.expires_at <= now() as expired, not (c.status = 'active' and (r.team_id is null or coalesce(cm.role = any($3::text[]), false))) as creator_left,
      w.seat, t.total::int as total, ${STAGED_HASH} as staged_hash,
      (select coalesce(json_agg(json_build_object('user_id', p.user_id, 'at', p.approved_at) order by p.approved_at), '[]')
        from gate_approvals p where p.run_id = g.run_id and p.gate_index = g.gate_index) as approvals,
      array(select a.type from run_actions a where a.run_id = r.run_id and a.status = 'staged' order by a.index) as staged_action_types,
      (select count(*)::int from run_actions a
        where a.run_id = r.run_id and a.status = 'failed' and a.index < g.gate_index) as failed_before_gate
    from waiting w join automation_runs r using (run_id) join automations a using (automation_id) join users c on c.user_id = r.creator_id
    left join memberships cm on cm.team_id = r.team_id and cm.user_id = r.creator_id
    cross join lateral (select * from gates g where g.run_id = r.run_id and g.decision is null order by g.gate_index limit 1) g, total t
    order by w.gate_expires_at, w.run_id`;

/** Reads at most $2 runs of each team in the order of the list; `after` is a condition on automation_runs r. */
const WAITING = (after = 'true'): string => /* sql */ `
    seats as (
      select team_id, role from memberships where user_id = $1
    ), signed as materialized (
      select t.team_id from seats s join teams t using (team_id) where t.decisions_signed_in
    ), waiting as (
      (select r.run_id, r.gate_expires_at, s.role as seat from seats s cross join lateral (
        select r.run_id, r.gate_expires_at from automation_runs r
        where r.status = 'paused' and r.team_id = s.team_id and ${after} ${FIRST}) r)
      union all
      (select r.run_id, r.gate_expires_at, null from automation_runs r where ${PERSONAL} and ${after} ${FIRST})
      order by gate_expires_at, run_id limit $2
    )`;

/** Counts all waiting runs, from the indexes that the list reads. */
const TOTAL = /* sql */ `total as (
      select (select count(*) from automation_runs r where ${PERSONAL}) + coalesce(sum(c.waiting), 0) as total
      from seats s cross join lateral (
        select count(*) as waiting from automation_runs r where r.status = 'paused' and r.team_id = s.team_id) c
    )`;

/** The run $4 after which the list continues. A run that the caller may not see is none. */
const LAST = /* sql */ `last as materialized (
      select r.gate_expires_at, r.run_id from automation_runs r where r.run_id = $4 and r.gate_expires_at is not null
        and case when r.team_id is null then r.creator_id = $1
          else exists (select from memberships m where m.team_id = r.team_id and m.user_id = $1) end
    )`;

/**
 * $1 = caller id, $2 = row limit, $3 = roles in which a creator may act. Only the total counts all waiting runs, from the same
 * indexes. Returns the types of staged actions, never their parameters.
 */
export const listApprovalsStatement = defineStatement({
  name: 'list_approvals',
  text: /* sql */ `
    with ${WAITING()}, ${TOTAL}
    ${ROWS}`,
});

/** The same after the run $4: a page of the API. */
export const approvalsPageStatement = defineStatement({
  name: 'list_approvals_page',
  text: /* sql */ `
    with ${LAST}, ${WAITING(AFTER_LAST)}, ${TOTAL}
    ${ROWS}`,
});

/**
 * The rows of `listApprovalsStatement` without their total. $1 = caller id, $2 = row limit, $3 = roles in which a creator may act,
 * $4 = run id after which the list continues, or null. A run that the caller may not see counts as null. A run keeps its deadline
 * after its gate is decided, so its place in the list remains.
 */
export const approvalsAfterStatement = defineStatement({
  name: 'list_approvals_after',
  text: /* sql */ `
    with ${LAST}, ${WAITING(AFTER_LAST)}, total as (
      select null as total
    )
    ${ROWS}`,
});

/** $1 = caller id, $2 = run ids, $3 = roles in which a creator may act. */
export const approvalsOfRunsStatement = defineStatement({
  name: 'approvals_of_runs',
  text: /* sql */ `
    with waiting as (
      select r.run_id, r.gate_expires_at, m.role as seat, r.team_id
      from automation_runs r left join memberships m on m.team_id = r.team_id and m.user_id = $1
      where r.run_id = any($2::uuid[]) and r.status = 'paused' and (m.role is not null or (r.team_id is null and r.creator_id = $1))
    ), signed as materialized (
      select t.team_id from (select distinct team_id from waiting) w join teams t using (team_id) where t.decisions_signed_in
    ), total as (
      select null as total
    )
    ${ROWS}`,
});
