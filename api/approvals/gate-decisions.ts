import { run } from '../../db/statement.js';
import type { GateRole } from '../automation/actions/rules.js';
import { rolesFor, type Seat } from '../platform/access/access.js';
import { webAddress } from '../platform/config.js';
import { type Context, requireUser } from '../platform/context.js';
import { mayApprove } from '../automation/runs/approvals/policy.js';
import { describeGate, describeGates } from '../automation/runs/staging/describe-gates.js';
import { countMissing } from '../gate/requirement/approvers-missing.js';
import { isGivenEvent } from '../automation/language/triggers.js';
import type { Decision, DecisionState } from './schema.js';
import { gateRecordsStatement } from './waiting.sql.js';

interface Row extends Record<string, unknown> {
  run_id: string;
  automation_name: string;
  team_id: string | null;
  creator_id: string;
  triggered_by: string | null;
  trigger_type: string;
  run_status: string;
  gate_index: number;
  message: string | null;
  required_role: GateRole;
  required_approvals: number;
  allow_self_approval: boolean;
  excluded: string[];
  behind: string[];
  signed_in: boolean;
  requested_at: Date;
  expires_at: Date;
  expired: boolean;
  decision: 'approved' | 'rejected' | null;
  decided_by: string | null;
  decided_at: Date | null;
  reason: string | null;
  staged_hash: string;
  seat: Seat | null;
  approvals: { user_id: string; at: string; comment: string | null }[];
}

function getState({ decision, expired, run_status }: Row): DecisionState {
  if (decision !== null) return decision;
  if (run_status === 'expired' || (run_status === 'paused' && expired)) return 'expired';
  return run_status === 'paused' ? 'pending' : 'cancelled';
}

const canDecide = (ctx: Context, row: Row): boolean => row.run_status === 'paused' && mayApprove(ctx, row, row, row.seat);

/** Returns the gates of runs by run id, as far as the caller may see them. `whole`: with their actions, however long. */
export async function gateDecisions(ctx: Context, runIds: readonly string[], whole = false): Promise<Map<string, Decision>> {
  if (runIds.length === 0) return new Map();
  const rows = await run<Row>(ctx.db, gateRecordsStatement, [requireUser(ctx), runIds, rolesFor('automation.write')]);
  const [only] = rows;
  const open = rows.filter(({ run_status }) => run_status === 'paused').map(({ run_id }) => run_id);
  const one = whole && only ? await describeGate(ctx, only.run_id) : undefined;
  const described = whole ? { ...(one && only && { [only.run_id]: one }) } : await describeGates(ctx, open);
  const missing = await countMissing(
    ctx,
    rows.map(({ run_status, team_id, required_role: role, required_approvals: approvals, excluded }) => {
      return { team_id: run_status === 'paused' ? team_id : null, role, approvals, excluded };
    }),
  );
  return new Map(
    rows.map((row, at): [string, Decision] => {
      const what = described[row.run_id];
      return [
        row.run_id,
        {
          kind: 'gate',
          id: row.run_id,
          gate_index: row.gate_index,
          title: row.automation_name,
          message: row.message,
          team_id: row.team_id,
          requested_by: row.triggered_by ?? row.creator_id,
          requested_at: row.requested_at.toISOString(),
          expires_at: row.expires_at.toISOString(),
          state: getState(row),
          requirement: {
            role: row.team_id === null ? null : row.required_role,
            approvals: row.required_approvals,
            allow_self: row.allow_self_approval,
            signed_in: row.signed_in,
          },
          approvals: row.approvals.map(({ user_id, at, comment }) => ({
            user_id,
            at: new Date(at).toISOString(),
            ...(comment !== null && { comment }),
          })),
          decided_by: row.decided_by,
          decided_at: row.decided_at?.toISOString() ?? null,
          comment: row.reason,
          staged_hash: what?.staged_hash ?? row.staged_hash,
          seen_hash: what?.seen_hash ?? null,
          actions: what?.lines ?? null,
          behind: row.behind,
          approvers_missing: missing[at] ?? 0,
          can_decide: canDecide(ctx, row),
          started_with_event: isGivenEvent(row.trigger_type),
          url: webAddress(ctx.config, `/app/approvals/gate/${row.run_id}`),
        },
      ];
    }),
  );
}
