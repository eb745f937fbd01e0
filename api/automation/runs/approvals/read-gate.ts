import { AutomationRun } from '../../../../db/models/automation/automation-run.js';
import { run } from '../../../../db/statement.js';
import type { GateView } from '../../../../workflows/contracts/run-contract.js';
import type { Services } from '../../../platform/context.js';
import { gateState, type RunStatus } from '../record/rules.js';
import { GATE_DEFAULTS } from '../../actions/rules.js';
import { readGateStatement } from './gates.sql.js';
import { expireRun } from './expire-run.js';
import { remindGate } from './asking/remind-gate.js';
import { restartRun } from '../execution/restart-run.js';

interface GateRow extends Record<string, unknown> {
  status: RunStatus;
  finished: boolean;
  decision: 'approved' | 'rejected' | null;
  required_role: string;
  expires_at: Date;
  decided_at: Date | null;
  decided_by: string[];
  expired: boolean;
  overdue: boolean;
  remind_due: boolean;
  reminds: boolean;
  required_approvals: number;
  approvals: number;
  ms_left: number;
}

/** State for a workflow whose run belongs to another execution: nothing to wait for. */
export const NEVER_OPENED: GateView = {
  state: 'closed',
  msLeft: 0,
  requiredRole: GATE_DEFAULTS.role,
  expiresAt: new Date(0).toISOString(),
  decidedAt: null,
};

/**
 * Handles an execution that waits at a gate the rows do not have: the rows were restored from an older backup. The rows win: an
 * open run that no other execution has claimed is restarted from them. A run that does not exist is left alone.
 */
async function restartBehind({ db }: Services, runId: string, execution: string): Promise<GateView> {
  const row = await AutomationRun.query(db)
    .findById(runId)
    .where((mine) => void mine.whereNull('claimed_by').orWhere({ claimed_by: execution }))
    .select('run_id', 'incarnation');
  if (row) await restartRun(db, row);
  return NEVER_OPENED;
}

/**
 * Reads a gate for its workflow. Also sends a due reminder, marks an expired gate, and ends a run whose gate has been expired for
 * GATE_CLEANUP_DAYS.
 * @param execution id of the workflow execution that waits at the gate
 */
export async function readGate(services: Services, runId: string, index: number, execution: string): Promise<GateView> {
  const read = () => run<GateRow>(services.db, readGateStatement, [runId, index, services.config.GATE_CLEANUP_DAYS]);
  let [row] = await read();
  if (row?.remind_due && !row.finished) {
    await remindGate(services, runId, index);
    [row] = await read();
  }
  if (!row) return restartBehind(services, runId, execution);
  const base = {
    requiredRole: row.required_role,
    requiredApprovals: row.required_approvals,
    approvals: row.approvals,
    reminds: row.reminds,
    expiresAt: row.expires_at.toISOString(),
    decidedAt: row.decided_at?.toISOString() ?? null,
    ...(row.decided_by.length > 0 && row.decision !== null && { decidedBy: row.decided_by }),
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
