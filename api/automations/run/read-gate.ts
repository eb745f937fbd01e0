import { run } from '../../../db/statement.js';
import type { GateView } from '../../../workflows/contract.js';
import type { Services } from '../../core/context.js';
import { gateState, type RunStatus } from '../rules.js';
import { readGateStatement } from './gates.sql.js';
import { expireRun } from './expire-run.js';
import { remindGate } from './remind-gate.js';

interface GateRow extends Record<string, unknown> {
  status: RunStatus;
  finished: boolean;
  decision: 'approved' | 'rejected' | null;
  required_role: string;
  expires_at: Date;
  decided_at: Date | null;
  expired: boolean;
  overdue: boolean;
  remind_due: boolean;
  reminds: boolean;
  required_approvals: number;
  approvals: number;
  ms_left: number;
}

/**
 * What the workflow obeys when it wakes: the gate's row. Sends the reminder when its time has come, marks a gate whose time has passed
 * as lapsed, and ends a run whose lapsed gate nobody rejected for GATE_CLEANUP_DAYS (F6, F7).
 * @throws Error when the run has no such gate: a fault of ours
 */
export async function readGate(services: Services, runId: string, index: number): Promise<GateView> {
  const read = () => run<GateRow>(services.db, readGateStatement, [runId, index, services.config.GATE_CLEANUP_DAYS]);
  let [row] = await read();
  if (row?.remind_due && !row.finished) {
    await remindGate(services, runId, index);
    [row] = await read();
  }
  if (!row) throw new Error(`Run ${runId} has no gate ${index}`);
  const base = {
    requiredRole: row.required_role,
    requiredApprovals: row.required_approvals,
    approvals: row.approvals,
    reminds: row.reminds,
    expiresAt: row.expires_at.toISOString(),
    decidedAt: row.decided_at?.toISOString() ?? null,
    msLeft: Math.max(0, row.ms_left),
  };
  const state = gateState(row.decision, row.expired);
  if (state === 'rejected') return { ...base, state: 'closed', rejected: true };
  if (row.finished) return { ...base, state: 'closed' };
  if (state === 'lapsed' && row.overdue) {
    await expireRun(services, runId, index);
    return { ...base, state: 'closed' };
  }
  return { ...base, state };
}
