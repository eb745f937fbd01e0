import type { Context } from '../../core/context.js';
import { recordChange } from '../../core/record-change.js';
import { runEvent } from '../run/publish.js';
import type { HeldGate, HeldRun } from './hold-gate.js';

/** Audit and activity of a decision. The hash ties what the person released to what then happened (durability notes, 3.2). */
export function recordDecision(
  ctx: Context,
  action: 'approve' | 'reject',
  held: HeldRun,
  gate: HeldGate,
  { decided = true, ...details }: Record<string, unknown> & { decided?: boolean },
): Promise<string> {
  const words = action === 'approve' ? 'approved' : 'rejected';
  return recordChange(ctx, {
    team_id: held.team_id,
    project_id: held.project_id,
    feature: 'approvals',
    action,
    severity: 'MEDIUM',
    entity_type: 'automation_run',
    entity_id: held.run_id,
    title: held.automation_name,
    summary: `${words} a run of ${held.automation_name}`,
    ...(decided ? { event: runEvent('approval.decided', held, { decision: words, gate_index: gate.gate_index }) } : {}),
    details: { gate_index: gate.gate_index, staged_hash: gate.staged_hash, automation_id: held.automation_id, ...details },
  });
}
