import type { Change } from '../../core/record-change.js';
import { runEvent } from '../execution/publish.js';
import type { LockedGate, LockedRun } from './lock-gate.js';

/** What a decision leaves in audit, activity and events. The hash ties what the person released to what then happened (durability notes, 3.2). */
export function decisionChange(
  held: LockedRun,
  gate: LockedGate,
  decision: 'approved' | 'rejected',
  details: Record<string, unknown> = {},
): Change {
  const { gate_index, staged_hash } = gate;
  return {
    team_id: held.team_id,
    project_id: held.project_id,
    feature: 'approvals',
    action: decision === 'approved' ? 'approve' : 'reject',
    severity: 'MEDIUM',
    entity_type: 'automation_run',
    entity_id: held.run_id,
    title: held.automation_name,
    summary: `${decision} a run of ${held.automation_name}`,
    event: runEvent('approval.decided', held, { decision, gate_index }),
    details: { gate_index, staged_hash, automation_id: held.automation_id, ...details },
  };
}
