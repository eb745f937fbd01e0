import { defineStatement, run } from '../../../../../db/statement.js';
import { authorizeManage } from '../../../definitions/policy.js';
import { type Context, inTransaction, requireUser } from '../../../../platform/context.js';
import { conflict, notFound } from '../../../../platform/errors.js';
import { findSeat } from '../../../../platform/access/seats.js';
import { lockRun } from '../../execution/load-run.js';
import { storeTail } from '../../staging/store-tail.js';
import { expireGateStatement } from '../gates.sql.js';
import { askAgainStatement } from './ask-again.sql.js';
import { announceGate, type OpenedGate } from './announce-gate.js';

/** $1 = run id. */
const openGateStatement = defineStatement({
  name: 'open_gate_of_run',
  text: 'select gate_index from gates where run_id = $1 and decision is null order by gate_index limit 1',
});

/**
 * Asks again at a gate whose time has passed: the same run waits as long as before, its actions are staged anew, and the approvers are notified. The
 * caller counts among the people behind the run.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED neither the creator nor a manager | RESOURCE_CONFLICT the gate has not expired, or was decided
 */
export function askAgain(ctx: Context, runId: string): Promise<{ run_id: string; gate_index: number; expires_at: string }> {
  return inTransaction(ctx, async (ctx) => {
    const row = await lockRun(ctx.db, runId);
    if (!row) throw notFound('Run');
    const { team_id, creator_id: created_by } = row;
    const seat = team_id === null ? null : await findSeat(ctx, team_id);
    authorizeManage('automation.dispatch', { team_id, created_by }, { userId: requireUser(ctx), seat });
    const [open] = await run<{ gate_index: number }>(ctx.db, openGateStatement, [runId]);
    const values = [runId, open?.gate_index ?? -1, requireUser(ctx), ctx.correlationId];
    // A gate past its deadline has expired, even if nothing has read it since.
    await run(ctx.db, expireGateStatement, values.slice(0, 2));
    const [opened] = row.status === 'paused' ? await run<OpenedGate>(ctx.db, askAgainStatement, values) : [];
    if (!open || !opened) throw conflict('The run has no expired approval');
    const { gate_index } = open;
    const tail = await storeTail(ctx, row, gate_index);
    const summary = `asked again for an approval of ${row.automation_name}`;
    await announceGate(ctx, row, gate_index, { ...opened, ...tail }, { summary });
    return { run_id: runId, gate_index, expires_at: opened.expires_at.toISOString() };
  });
}
