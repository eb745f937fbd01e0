/**
 * Every write that the service acknowledged to the load generator, in the form in which the checker queries it. A write whose
 * response was lost is added only after an acknowledged repetition.
 */
export interface Ledger {
  /** Tasks whose creation was acknowledged, with their last acknowledged state. */
  tasks: AckedTask[];
  /** Updates with the version in their response. */
  updates: { task_id: string; version: number; title: string }[];
  /** Signed deliveries of an opened issue, whose title is unique among tasks. */
  deliveries: { delivery_id: string; title: string }[];
  decisions: { run_id: string; gate_index: number; decision: 'approved' | 'rejected' }[];
  /** Tasks whose creation was rejected at the first attempt. */
  refused: { task_id: string }[];
  /** Replays of failed runs. */
  retries: { run_id: string; retry_of: string }[];
  /** Notes with the text acknowledged last; titles are unique. */
  notes: { note_id: string; title: string; content: string }[];
  relations: { relation_id: string; source_id: string; target_id: string }[];
  /** Cycles that were completed, or that a date completes. */
  cycles: { cycle_id: string }[];
  /** Jobs of runners whose end was acknowledged, with the bytes of their logs. */
  jobs: { job_id: string; status: string; bytes: number }[];
  /** Numbers in custom fields, as they were set last; null: cleared. */
  values: { field_id: string; entity_id: string; value: number | null }[];
  views: { view_id: string; name: string; deleted: boolean }[];
  imports: AckedImport[];
  /** Confirmed plans of the agent, each with the comment that it writes. */
  plans: { action_id: string; content: string }[];
  /** Plans that were applied and undone, each with the comment that is gone. */
  undone: { action_id: string; content: string }[];
  /** Plans of outside agents, each with the key under which it was proposed. */
  proposals: { action_id: string; key: string }[];
  /** Change requests whose use was acknowledged. */
  requests: AckedRequest[];
  /** Acknowledged approvals of change requests, one an approver. */
  approvals: { request_id: string }[];
  /** Arrivals at the receiver of requests that Assent sent itself, one each. */
  performed: { request_id: string }[];
  /** Acknowledged rejections of change requests. */
  rejections: { request_id: string }[];
  /** Calls of agents through the gateway. */
  calls: AgentCall[];
  /** Calls that the server behind the gateway performed, one each. */
  acts: { call_id: string; tool: string }[];
  /** Failed CI runs that were delivered. */
  failures: { run_id: number }[];
  /** Webhooks that the subscribed receiver handled; `version` of the task. */
  received: { event_id: string; type: string; entity_id: string; version: number | null }[];
}

export interface AckedRequest {
  request_id: string;
  redemption_id: string;
  /** Null: not reported. */
  outcome: string | null;
}

/** A call through the gateway, by the id in its arguments. */
export interface AgentCall {
  call_id: string;
  tool: string;
  /** How often the agent sent it. */
  sent: number;
  /** `answered`: the agent got the server's own result. `nothing`: it was told that nothing was called. `lost`: neither. */
  end: 'answered' | 'nothing' | 'lost';
  /** The change request that the end was told of; null: the call passes through, or the agent never learnt the id. */
  request_id: string | null;
}

export interface AckedTask {
  task_id: string;
  project_id: string;
  title: string;
  description: string | null;
  /** The row may be newer (automations write too), never older. */
  version: number;
  trashed: boolean;
  /** Comments that the automations of this task must have written exactly once each. */
  comments: string[];
}

/** An import that was accepted, with what must become of its file. */
export interface AckedImport {
  job_id: string;
  /** Part of the titles of all that it creates. */
  tag: string;
  counts: { total: number; created: number; updated: number; skipped: number; failed: number };
  /** Numbers of the lines that fail, ascending. */
  failing: number[];
  /** It was cancelled, wherever it was; else it succeeds. */
  cancelled: boolean;
  /** Its undo was accepted. */
  undone: boolean;
  /** Task that another user put into its project before the undo. */
  kept: string | null;
}

export const emptyLedger = (): Ledger => ({
  tasks: [],
  updates: [],
  deliveries: [],
  decisions: [],
  refused: [],
  retries: [],
  notes: [],
  relations: [],
  cycles: [],
  jobs: [],
  values: [],
  views: [],
  imports: [],
  plans: [],
  undone: [],
  proposals: [],
  requests: [],
  approvals: [],
  performed: [],
  rejections: [],
  calls: [],
  acts: [],
  failures: [],
  received: [],
});
