/**
 * What the load generator was promised: every write that the service acknowledged, in the words in which the checker asks for it
 * again. A write whose answer was lost is not here until a repetition of it was acknowledged.
 */
export interface Ledger {
  /** Tasks whose creation was acknowledged, with the last state that was. */
  tasks: AckedTask[];
  /** Updates, each with the version that its answer named. */
  updates: { task_id: string; version: number; title: string }[];
  /** Signed deliveries of an opened issue, whose title is on no other task. */
  deliveries: { delivery_id: string; title: string }[];
  decisions: { run_id: string; gate_index: number; decision: 'approved' | 'rejected' }[];
  /** Tasks whose creation was refused the first time it was asked for. */
  refused: { task_id: string }[];
  /** Replays of failed runs. */
  retries: { run_id: string; retry_of: string }[];
}

export interface AckedTask {
  task_id: string;
  project_id: string;
  title: string;
  description: string | null;
  /** The row may be newer (automations write too), never older. */
  version: number;
  trashed: boolean;
  /** What the automations that listen to this task must each have written on it, once. */
  comments: string[];
}

export const emptyLedger = (): Ledger => ({ tasks: [], updates: [], deliveries: [], decisions: [], refused: [], retries: [] });
