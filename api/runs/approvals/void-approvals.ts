import { run, type Statement } from '../../../db/statement.js';
import { hasRoleAtLeast, type Seat } from '../../core/access.js';
import type { Context } from '../../core/context.js';
import { GATE_ROLES } from '../rules.js';

/**
 * $1 person, $2 team or null for all of them and what is personal, $3 roles of gates that the person still has, $4 correlation id. A gate
 * that is being decided at this moment is waited for, and keeps its approvals. The workflows are only woken, to tell how many are missing.
 */
const statement: Statement = {
  name: 'void_approvals',
  text: /* sql */ `
with open as (
  select g.run_id, g.gate_index, r.incarnation
  from gate_approvals p join gates g using (run_id, gate_index) join automation_runs r using (run_id)
  where p.user_id = $1 and g.decision is null and r.finished_at is null
    and ($2::uuid is null or r.team_id = $2 and g.required_role <> all($3::text[]))
  order by g.run_id, g.gate_index for update of g
), voided as (
  delete from gate_approvals p using open o where p.run_id = o.run_id and p.gate_index = o.gate_index and p.user_id = $1
), woken as (
  insert into outbox (kind, subject, payload, correlation_id)
  select 'run.wake', run_id::text, jsonb_build_object('run_id', run_id, 'incarnation', incarnation, 'gate_index', gate_index), $4::uuid
  from open
)
select count(*)::int as voided from open`,
};

/**
 * Takes back what somebody approved at gates that still wait and that they may not open any more, as part of the change that takes the
 * role from them; who gets it back may approve again. So what is shown as approved is what counts, and nobody who must approve again
 * is kept from it. The caller holds the seat, or the person where no `seat` is named: whoever approves waits for that (hold-gate.ts).
 * Returns what the audit entry of the change tells: the entries of the approvals stay.
 * Source: decision F6.
 */
export async function voidApprovals(
  ctx: Context,
  userId: string,
  seat?: { team_id: string; role: Seat | null },
): Promise<{ voided_approvals?: number }> {
  const left = GATE_ROLES.filter((role) => hasRoleAtLeast(seat?.role ?? null, role));
  const values = [userId, seat?.team_id ?? null, left, ctx.correlationId];
  const [row] = await run<{ voided: number }>(ctx.db, statement, values);
  return row?.voided ? { voided_approvals: row.voided } : {};
}
