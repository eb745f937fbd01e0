import type { AutomationRun } from '../../../../db/models/automation/automation-run.js';
import type { Seat } from '../../../platform/access/access.js';
import type { ActionStatus } from './rules.js';
import type { GateRole } from '../../actions/rules.js';

/** Times inside JSON are text as PostgreSQL writes them. */
interface ActionJson {
  index: number;
  type: string;
  name: string | null;
  status: ActionStatus;
  attempts: number;
  started_at: string | null;
  finished_at: string | null;
  due_at: string | null;
  output: Record<string, unknown> | null;
  error: { code: string; message: string } | null;
}

interface ApprovalJson {
  gate_index: number;
  required_role: GateRole;
  required_approvals: number;
  approvals: { user_id: string; at: string; comment: string | null }[];
  requested_at: string;
  expires_at: string;
  expired: boolean;
  decision: 'approved' | 'rejected' | null;
  decided_by: string | null;
  decided_at: string | null;
  reason: string | null;
}

/** A run with its actions, its gates in order, and the caller's role in its team. */
export type RunView = Pick<AutomationRun, keyof AutomationRun> & {
  seat: Seat | null;
  actions: ActionJson[];
  gates: ApprovalJson[];
};
