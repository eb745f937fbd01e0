import { run } from '../../../../db/statement.js';
import { hasRoleAtLeast, type Seat } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { GATE_ROLES } from '../../actions/rules.js';
import { voidApprovalsStatement } from './void-approvals.sql.js';

/**
 * Revokes a user's approvals of open gates that the user can no longer approve, in the transaction that removes the role. The
 * user may approve again after regaining the role. So the approvals shown are the approvals that count. The caller has locked the
 * membership, or the user if no `seat` is given; a concurrent approval waits for that lock (lock-gate.ts). Returns details for
 * the caller's audit entry; the audit entries of the approvals remain (docs/decisions/gate.md#approvals-follow-the-role).
 */
export async function voidApprovals(
  ctx: Context,
  userId: string,
  seat?: { team_id: string; role: Seat | null },
): Promise<{ voided_approvals?: number }> {
  const left = GATE_ROLES.filter((role) => hasRoleAtLeast(seat?.role ?? null, role));
  const values = [userId, seat?.team_id ?? null, left, ctx.correlationId];
  const [row] = await run<{ voided: number }>(ctx.db, voidApprovalsStatement, values);
  return row?.voided ? { voided_approvals: row.voided } : {};
}
