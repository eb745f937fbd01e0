import { run, type Statement } from '../../../db/statement.js';
import type { Seat } from '../../core/access.js';
import { type Context, userOf } from '../../core/context.js';
import { STAGED_HASH } from './hold-gate.js';
import { mayApprove } from './policy.js';
import type { ApprovalList } from './schema.js';

type Row = Omit<ApprovalList['approvals'][number], 'requested_at' | 'expires_at' | 'can_decide'> & {
  requested_at: Date;
  expires_at: Date;
  allow_self_approval: boolean;
  creator_id: string;
  triggered_by: string | null;
  seat: Seat | null;
  total: number;
};

/** $1 caller, $2 most rows. Types of what is staged, never its parameters (contract, section 4). */
const statement: Statement = {
  name: 'list_approvals',
  text: /* sql */ `
    select r.run_id, r.automation_id, r.automation_name, r.team_id, r.project_id, r.trigger_type, r.creator_id, r.triggered_by,
      g.gate_index, g.message, g.required_role, g.required_approvals, g.allow_self_approval, g.requested_at, g.expires_at,
      g.expires_at <= now() as expired, m.role as seat, (count(*) over ())::int as total, ${STAGED_HASH} as staged_hash,
      (select coalesce(json_agg(json_build_object('user_id', p.user_id, 'at', p.approved_at) order by p.approved_at), '[]')
        from gate_approvals p where p.run_id = g.run_id and p.gate_index = g.gate_index) as approvals,
      array(select a.type from run_actions a where a.run_id = r.run_id and a.status = 'staged' order by a.index) as staged_action_types,
      (select count(*)::int from run_actions a
        where a.run_id = r.run_id and a.status = 'failed' and a.index < g.gate_index) as failed_before_gate
    from gates g join automation_runs r using (run_id)
    left join memberships m on m.team_id = r.team_id and m.user_id = $1
    where g.decision is null and r.status = 'paused' and (m.role is not null or (r.team_id is null and r.creator_id = $1))
    order by g.expires_at, g.run_id limit $2`,
};

function present({ creator_id, triggered_by, allow_self_approval, seat, total: _total, ...row }: Row, userId: string) {
  const self = { team_id: row.team_id, creator_id, triggered_by };
  return {
    ...row,
    approvals: row.approvals.map(({ user_id, at }) => ({ user_id, at: new Date(at).toISOString() })),
    requested_at: row.requested_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    can_decide: mayApprove(self, { required_role: row.required_role, allow_self_approval }, { userId, seat }),
  };
}

/** Gates that wait in all the caller's teams, and in their personal automations, oldest deadline first (F9). */
export async function listApprovals(ctx: Context, limit: number): Promise<ApprovalList> {
  const userId = userOf(ctx);
  const rows = await run<Row>(ctx.db, statement, [userId, limit]);
  return { approvals: rows.map((row) => present(row, userId)), total: rows[0]?.total ?? 0 };
}
