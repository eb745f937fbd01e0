/** Names and shapes of a run of an automation, and of the times of its schedule. */
import type { Searchable } from './searchable.js';

/** Rows of the outbox, by kind. */
declare module '../../api/platform/outbox/outbox.js' {
  interface OutboxPayloads {
    /** Start the run's workflow. */
    'run.start': { run_id: string; incarnation: number };
    /** Wake the run's workflow to read its rows again after a decision. */
    'run.wake': { run_id: string; incarnation: number; gate_index?: number };
    /** Update the automation's Temporal Schedule. Written by database triggers. */
    'schedule.sync': { automation_id: string };
  }
}

/** Workflow type of a run: the exported name in workflows/index.ts. */
export const AUTOMATION_RUN = 'automationRun';
/** Signal that the run's rows have changed by a decision. */
export const DECIDED_SIGNAL = 'decided';

/** Workflow ids are derived from business keys, so that a repeated start finds the first one. */
export const runWorkflowId = (runId: string): string => `run:${runId}`;

/** A run and its incarnation: every activity of a run sends them, and the first one claims the run for its execution. */
export interface RunRef {
  runId: string;
  /** Increases with each restart from the row; a stale start can claim nothing. */
  incarnation: number;
}

export interface AutomationRunInput extends Searchable, RunRef {
  plan: RunPlan;
  /**
   * Shows the final state of every run, also of one that succeeded. Absent in older histories. Part of the start instead of `patched()`, whose marker
   * and search attribute would cost each run two events more.
   */
  showsEnd?: true;
}

/** One step of a run: only what the workflow needs to order and name it. */
export interface RunStep {
  index: number;
  /** Action type, which is also the name of its activity. */
  type: string;
  /** Name of the action, or its type. */
  label: string;
  /** It waits for another server, so that its activity has the queue `outbound`. Absent in older histories. */
  sends?: boolean;
}

/** Known at the run's creation and part of its start, so that the workflow reads nothing before its first action. */
export interface RunPlan {
  automationName: string;
  triggerType: string;
  steps: RunStep[];
  /** A dry run. */
  isTest?: true;
}

/** Outcome of an action; `stop` if it failed and the automation stops on failure. */
export type ActionOutcome = 'succeeded' | 'failed' | 'skipped' | 'stop' | 'waiting';

/** A step that continues later: a delay, or a failed action before its retry. */
export interface Wait {
  /** By the database's clock. */
  msLeft: number;
  until: string;
  /** An answer is under way: its end wakes the run, and `until` is only when the run looks for it by itself. */
  forAnswer?: true;
  /** Number of the next attempt and the maximum; absent for a delay. */
  attempt?: { next: number; of: number };
}

export interface ActionResult {
  outcome: ActionOutcome;
  /** Code of the failure, never its message. Absent in older histories. */
  code?: string;
  /** Present if `outcome` is `waiting`: ask again after it, or when woken. */
  wait?: Wait;
  /**
   * Final status of the run, if it ended with this action or before; null if another execution owns it. Absent while it
   * continues.
   */
  ended?: string | null;
}

export interface GateView {
  state: 'pending' | 'lapsed' | 'approved' | 'closed';
  /** Milliseconds until the gate's next change by time, by the database's clock; 0 if none. */
  msLeft: number;
  requiredRole: string;
  /** Number of different users who must approve; absent in older histories. */
  requiredApprovals?: number;
  /** Approvals so far; absent in older histories. */
  approvals?: number;
  /** Approved by nobody: it had nothing to release. */
  skipped?: true;
  /** Closed by a rejection. */
  rejected?: true;
  /** Ids of the users who decided: all who approved, or the one who rejected. Absent in older histories. */
  decidedBy?: string[];
  /** The next change is the reminder. */
  reminds?: boolean;
  expiresAt: string;
  decidedAt: string | null;
}

/** Result of a run's workflow, shown in Temporal's list. Fixed texts and codes only: no text from a user or a server. */
export interface RunResult {
  /** Final status of the run's row; `superseded` if the run had ended before, or another execution owns it. */
  status: string;
  /** Label of the decisive step; null if there is none. */
  step: string | null;
  message: string;
}

/** Activities of a run besides the actions, which are named after their types. */
export interface RunActivities {
  openGate(run: RunRef, index: number): Promise<GateView>;
  readGate(runId: string, index: number): Promise<GateView>;
  /** Returns the final status; null if another execution owns the run. */
  finishRun(run: RunRef, cancelled: boolean): Promise<string | null>;
}
export type ActionActivity = (run: RunRef, index: number) => Promise<ActionResult>;

/** Workflow type of one nominal time of an automation's schedule, and the id of that schedule. */
export const AUTOMATION_SCHEDULE = 'automationSchedule';
export const scheduleId = (prefix: string, automationId: string): string => `${prefix}sched:${automationId}`;
export interface ScheduleActivities {
  /** Creates the run of this time; returns the outcome. */
  fireSchedule(automationId: string, nominalTime: string): Promise<string>;
}
