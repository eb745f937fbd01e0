import { runWorkflowId } from '../../../workflows/contracts/run-contract.js';
import type { RunView } from './record/run-record.js';
import type { RunSummary } from './schema.js';

const iso = (at: Date | string | null): string | null => (at === null ? null : new Date(at).toISOString());

function presentApproval(approval: RunView['gates'][number]): NonNullable<RunSummary['approval']> {
  return {
    ...approval,
    approvals: approval.approvals.map(({ user_id, at, comment }) => ({
      user_id,
      at: new Date(at).toISOString(),
      ...(comment !== null && { comment }),
    })),
    requested_at: new Date(approval.requested_at).toISOString(),
    expires_at: new Date(approval.expires_at).toISOString(),
    decided_at: iso(approval.decided_at),
  };
}

/** Returns the decision of an action's gate, which stays readable after the run reaches the next gate. */
function findDecision(gates: RunView['gates'], index: number): Record<string, unknown> | null {
  const gate = gates.find(({ gate_index, decision }) => gate_index === index && decision !== null);
  return gate ? presentApproval(gate) : null;
}

/** Converts a run for the API: its results, never the parameters of pending actions. The output of a gate is its decision. */
export const presentRun = ({ gates, ...row }: RunView): RunSummary => ({
  run_id: row.run_id,
  automation_id: row.automation_id,
  automation_name: row.automation_name,
  automation_version: row.automation_version,
  team_id: row.team_id,
  project_id: row.project_id,
  status: row.status,
  skip_reason: row.skip_reason,
  condition_error: row.condition_error,
  trigger_type: row.trigger_type,
  event_truncated: row.event_truncated,
  is_test: row.is_test,
  triggered_by: row.triggered_by,
  depth: row.depth,
  retry_of: row.retry_of,
  retried_by: row.retried_by,
  queued_at: row.queued_at.toISOString(),
  started_at: iso(row.started_at),
  finished_at: iso(row.finished_at),
  duration_ms: row.started_at && row.finished_at ? row.finished_at.getTime() - row.started_at.getTime() : null,
  error: row.error,
  actions: row.actions.map((action) => ({
    ...action,
    output: action.output ?? findDecision(gates, action.index),
    started_at: iso(action.started_at),
    finished_at: iso(action.finished_at),
    due_at: iso(action.due_at),
  })),
  approval: gates.map(presentApproval).at(-1) ?? null,
  workflow_id: row.skip_reason === 'condition_false' || row.skip_reason === 'loop' ? null : runWorkflowId(row.run_id),
});
