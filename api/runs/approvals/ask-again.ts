import { run, type Statement } from '../../../db/statement.js';
import type { GateRole } from '../../actions/rules.js';
import { authorizeManage } from '../../automations/policy.js';
import { type Context, inTransaction, userOf } from '../../core/context.js';
import { conflict, notFound } from '../../core/errors.js';
import { recordChange } from '../../core/record-change.js';
import { seatOf } from '../../core/seats.js';
import { lockRun } from '../execution/load-run.js';
import { storeTail } from '../staging/store-tail.js';
import { askAgainStatement } from './ask-again.sql.js';
import { notifyApprovers } from './notify-approvers.js';

interface Opened extends Record<string, unknown> {
  required_role: GateRole;
  required_approvals: number;
  message: string | null;
  expires_at: Date;
}

/** $1 = run id. */
const openGateStatement: Statement = {
  name: 'open_gate_of_run',
  text: 'select gate_index from gates where run_id = $1 and decision is null order by gate_index limit 1',
};

/**
 * Asks again at a gate whose time has passed: the same run waits as long as before, its actions are staged anew, and the approvers are told. Whoever
 * asks counts among the people behind the run.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED neither the creator nor a manager | RESOURCE_CONFLICT the gate has not lapsed, or was decided
 */
export function askAgain(ctx: Context, runId: string): Promise<{ run_id: string; gate_index: number; expires_at: string }> {
  return inTransaction(ctx, async (ctx) => {
    const row = await lockRun(ctx.db, runId);
    if (!row) throw notFound('Run');
    const { team_id, project_id, creator_id: created_by, automation_id, automation_name } = row;
    const seat = team_id === null ? null : await seatOf(ctx, team_id);
    authorizeManage('automation.dispatch', { team_id, created_by }, { userId: userOf(ctx), seat });
    const [open] = await run<{ gate_index: number }>(ctx.db, openGateStatement, [runId]);
    const values = [runId, open?.gate_index ?? -1, userOf(ctx), ctx.correlationId];
    const [opened] = row.status === 'paused' ? await run<Opened>(ctx.db, askAgainStatement, values) : [];
    if (!open || !opened) throw conflict('The run has no expired approval');
    const { gate_index } = open;
    const tail = await storeTail(ctx, row, gate_index);
    await notifyApprovers(ctx, row, { ...opened, ...tail }, 'approval_requested');
    const expires_at = opened.expires_at.toISOString();
    await recordChange(ctx, {
      team_id,
      project_id,
      feature: 'approvals',
      action: 'stage',
      severity: 'MEDIUM',
      entity_type: 'automation_run',
      entity_id: runId,
      title: automation_name,
      summary: `asked again for an approval of ${automation_name}`,
      details: { gate_index, automation_id, expires_at, staged_hash: tail.staged_hash },
    });
    return { run_id: runId, gate_index, expires_at };
  });
}
