import type { StoredAction } from '../../../db/models/automation/automation.js';
import { defineStatement, run } from '../../../db/statement.js';
import { hasRoleAtLeast, type Seat } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { GATE, GATE_DEFAULTS, type GateRole } from '../actions/rules.js';

/** $1 = team id, $2 = users whose approval does not count. Counts active members by role. */
const statement = defineStatement({
  name: 'count_approvers',
  text: /* sql */ `
    select m.role, count(*)::int as people from memberships m join users u using (user_id)
    where m.team_id = $1 and u.status = 'active' and m.user_id <> all($2::uuid[]) group by m.role`,
});

interface GateParams {
  role?: GateRole;
  required_approvals?: number;
  allow_self_approval?: boolean;
}

/**
 * Returns warnings about gates without self-approval that too few current members can approve. Excludes the creator and the
 * author; the user who will start a run is not known yet.
 */
export async function shortGates(
  ctx: Context,
  {
    team_id,
    created_by,
    updated_by,
    actions,
  }: { team_id: string | null; created_by: string; updated_by: string; actions: StoredAction[] },
): Promise<string[]> {
  const strict = actions.flatMap(({ type, params }, index) =>
    type === GATE && (params as GateParams).allow_self_approval === false ? [{ index, ...(params as GateParams) }] : [],
  );
  if (strict.length === 0) return [];
  const counts =
    team_id === null ? [] : await run<{ role: Seat; people: number }>(ctx.db, statement, [team_id, [created_by, updated_by]]);
  return strict.flatMap(({ index, role = GATE_DEFAULTS.role, required_approvals: needed = GATE_DEFAULTS.requiredApprovals }) => {
    const able = counts.reduce((sum, one) => sum + (hasRoleAtLeast(one.role, role) ? one.people : 0), 0);
    if (able >= needed) return [];
    return [`actions[${index}]: the gate needs ${needed} approvals; eligible approvers besides creator and author: ${able}`];
  });
}
