import { run, type Statement } from '../../../db/statement.js';
import { isAdmitted, rolesFor, type Seat } from '../../core/access.js';
import { type Context, userOf } from '../../core/context.js';
import { EXCLUDED } from './excluded.sql.js';
import { STAGED_HASH } from './lock-gate.js';
import { mayApprove } from './policy.js';
import type { ApprovalList } from './schema.js';

type Row = Omit<ApprovalList['approvals'][number], 'requested_at' | 'expires_at' | 'can_decide'> & {
  requested_at: Date;
  expires_at: Date;
  excluded: string[];
  creator_id: string;
  seat: Seat | null;
  total: number;
};

/** SQL over automation_runs r: waiting runs. Each team is read in deadline order from an index. */
const FIRST = /* sql */ `order by r.gate_expires_at, r.run_id limit $2`;
const PERSONAL = /* sql */ `r.status = 'paused' and r.team_id is null and r.creator_id = $1`;

/** Selects the gates of the runs in `waiting`, the caller's seat in each team, and the `total`. */
const ROWS = /* sql */ `
    select r.run_id, r.automation_id, r.automation_name, r.team_id, r.project_id, r.trigger_type, r.creator_id,
      g.gate_index, g.message, g.required_role, g.required_approvals, ${EXCLUDED} as excluded, g.requested_at, g.expires_at,
      g.expires_at <= now() as expired, not (c.status = 'active' and (r.team_id is null or coalesce(cm.role = any($3::text[]), false))) as creator_left,
      w.seat, t.total::int as total, ${STAGED_HASH} as staged_hash,
      (select coalesce(json_agg(json_build_object('user_id', p.user_id, 'at', p.approved_at) order by p.approved_at), '[]')
        from gate_approvals p where p.run_id = g.run_id and p.gate_index = g.gate_index) as approvals,
      array(select a.type from run_actions a where a.run_id = r.run_id and a.status = 'staged' order by a.index) as staged_action_types,
      (select count(*)::int from run_actions a
        where a.run_id = r.run_id and a.status = 'failed' and a.index < g.gate_index) as failed_before_gate
    from waiting w join automation_runs r using (run_id) join users c on c.user_id = r.creator_id
    left join memberships cm on cm.team_id = r.team_id and cm.user_id = r.creator_id
    cross join lateral (select * from gates g where g.run_id = r.run_id and g.decision is null order by g.gate_index limit 1) g, total t
    order by w.gate_expires_at, w.run_id`;

/**
 * $1 = caller id, $2 = row limit, $3 = roles in which a creator may act. Reads at most $2 runs of each team; only the total counts them all, from the same indexes.
 * Returns the types of staged actions, never their parameters.
 */
const statement: Statement = {
  name: 'list_approvals',
  text: /* sql */ `
    with seats as (
      select team_id, role from memberships where user_id = $1
    ), waiting as (
      (select r.run_id, r.gate_expires_at, s.role as seat from seats s cross join lateral (
        select r.run_id, r.gate_expires_at from automation_runs r where r.status = 'paused' and r.team_id = s.team_id ${FIRST}) r)
      union all
      (select r.run_id, r.gate_expires_at, null from automation_runs r where ${PERSONAL} ${FIRST})
      order by gate_expires_at, run_id limit $2
    ), total as (
      select (select count(*) from automation_runs r where ${PERSONAL}) + coalesce(sum(c.waiting), 0) as total
      from seats s cross join lateral (
        select count(*) as waiting from automation_runs r where r.status = 'paused' and r.team_id = s.team_id) c
    )
    ${ROWS}`,
};

/** $1 = caller id, $2 = run id, $3 = roles in which a creator may act. */
const oneStatement: Statement = {
  name: 'get_approval',
  text: /* sql */ `
    with waiting as (
      select r.run_id, r.gate_expires_at, m.role as seat
      from automation_runs r left join memberships m on m.team_id = r.team_id and m.user_id = $1
      where r.run_id = $2 and r.status = 'paused' and (m.role is not null or (r.team_id is null and r.creator_id = $1))
    ), total as (
      select count(*) as total from waiting
    )
    ${ROWS}`,
};

function present({ creator_id, excluded, seat, total: _total, ...row }: Row, ctx: Context) {
  const gated = { team_id: row.team_id, creator_id };
  const gate = { required_role: row.required_role, excluded };
  return {
    ...row,
    approvals: row.approvals.map(({ user_id, at }) => ({ user_id, at: new Date(at).toISOString() })),
    requested_at: row.requested_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    can_decide: isAdmitted('gate.decide', ctx.actor) && mayApprove(gated, gate, { userId: userOf(ctx), seat }),
  };
}

/** Lists the gates that wait in the caller's teams and personal automations, oldest deadline first. */
export async function listApprovals(ctx: Context, limit: number): Promise<ApprovalList> {
  const rows = await run<Row>(ctx.db, statement, [userOf(ctx), limit, rolesFor('automation.write')]);
  return { approvals: rows.map((row) => present(row, ctx)), total: rows[0]?.total ?? 0 };
}

/** Returns the gate that a run waits at, as the list shows it; null if there is none or the caller may not see it. */
export async function getApproval(ctx: Context, runId: string): Promise<ApprovalList['approvals'][number] | null> {
  const [row] = await run<Row>(ctx.db, oneStatement, [userOf(ctx), runId, rolesFor('automation.write')]);
  return row ? present(row, ctx) : null;
}
