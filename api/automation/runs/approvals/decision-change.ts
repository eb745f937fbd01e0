import type { Change } from '../../../platform/changes/record-change.js';
import { runEvent } from '../execution/publish.js';
import type { LockedGate, LockedRun } from './lock-gate.js';

/**
 * Builds the trace of a decision: audit entry, activity line and event. The hash ties what was approved to what then ran
 * (docs/decisions/gate.md#staged-hash). `comment`: that of the user who decides.
 */
export function decisionChange(
  locked: LockedRun,
  gate: LockedGate,
  decision: 'approved' | 'rejected',
  details: Record<string, unknown> = {},
  comment: string | null = null,
): Change {
  const { gate_index, staged_hash } = gate;
  return {
    team_id: locked.team_id,
    project_id: locked.project_id,
    feature: 'approvals',
    action: decision === 'approved' ? 'approve' : 'reject',
    severity: 'MEDIUM',
    entity_type: 'automation_run',
    entity_id: locked.run_id,
    title: locked.automation_name,
    summary: `${decision} a run of ${locked.automation_name}`,
    event: runEvent('approval.decided', locked, { decision, gate_index, ...(comment && { comment }) }),
    details: { gate_index, staged_hash, automation_id: locked.automation_id, ...details, ...(comment && { comment }) },
  };
}
