/** Names and shapes shared by the API, the worker and the workflows: imports neither Temporal nor code that waits. */

export * from './contracts/bulk-contract.js';
export * from './contracts/cycle-contract.js';
export * from './contracts/maintenance-contract.js';
export * from './contracts/runner-contract.js';
export * from './contracts/turn-contract.js';

const TASK_QUEUES = { core: 'core', outbound: 'outbound', imports: 'imports' } as const;
/** Returns a queue's name with TASK_QUEUE_PREFIX, which separates installations and test files on one server. */
export const taskQueue = (prefix: string, queue: keyof typeof TASK_QUEUES): string => `${prefix}${TASK_QUEUES[queue]}`;

const beside = (core: string, queue: keyof typeof TASK_QUEUES): string =>
  taskQueue(core.slice(0, core.length - TASK_QUEUES.core.length), queue);
/** Returns the outbound queue that belongs to a workflow's own queue. */
export const outboundQueue = (core: string): string => beside(core, 'outbound');
/** Returns the queue of imports and their undo, which belongs to a workflow's own queue. */
export const importQueue = (core: string): string => beside(core, 'imports');

/**
 * Priority of what a person waits for who wants something back, before the default of 3: it does not wait behind all runs of its own team. Only for
 * workflows of which a team has one at a time, for others wait meanwhile.
 */
export const REMEDY_PRIORITY = 2;

/**
 * Heartbeats of outbound actions: if a worker dies, the attempt is retried after the missed heartbeats, before its whole timeout.
 */
export const OUTBOUND_HEARTBEAT = { everyMs: 3_000, missedAfterMs: 10_000 } as const;

/** Workflow type of a run: the exported name in workflows/index.ts. */
export const AUTOMATION_RUN = 'automationRun';
/** Signal that the run's rows have changed by a decision. */
export const DECIDED_SIGNAL = 'decided';
/** Header and memo key of the id of the original request. */
export const CORRELATION_HEADER = 'correlation-id';

/** Workflow ids are derived from business keys, so that a repeated start finds the first one. */
export const runWorkflowId = (runId: string): string => `run:${runId}`;

export interface Searchable {
  /** False on a cluster without slots for the search attributes: the workflow then sets none. */
  searchable?: false;
}

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

/** Workflow type of a recurring series: one workflow for all its occurrences. */
export const RECURRING_TASK = 'recurringTask';
export const seriesWorkflowId = (seriesId: string): string => `series:${seriesId}`;
/** Signals of a series by kind of outbox row; the rows decide what there is to do. */
export const SERIES_SIGNALS = {
  'series.completed': 'completed',
  'series.changed': 'ruleChanged',
  'series.ended': 'end',
} as const;
export interface RecurringTaskInput extends Searchable {
  seriesId: string;
  /** Rounds before the workflow continues as new; fewer in tests. */
  rounds?: number;
}

/** State of a series after everything due was done. Ids, numbers and dates only. */
export interface SeriesView {
  /** `resting`: its newest occurrence is in the trash. `blocked`: no user may write in its name. */
  state: 'waiting' | 'resting' | 'blocked' | 'ended';
  /** Whether an occurrence was just created; more may be due. */
  made: boolean;
  rule: string;
  mode: 'on_complete' | 'on_schedule';
  timezone: string;
  index: number;
  taskId: string | null;
  dueDate: string | null;
  /**
   * When the next occurrence is created by schedule, and the milliseconds until then by the database's clock; null if none is.
   */
  nextAt: string | null;
  msLeft: number | null;
  /** Why it ended or is blocked. */
  reason: string | null;
}
export interface SeriesActivities {
  /** Creates the next occurrence if it is due; returns null if the series does not exist. */
  advanceSeries(seriesId: string): Promise<SeriesView | null>;
}

/** Workflow type of the deprovisioning of a user. */
export const USER_DEPROVISION = 'userDeprovision';
export const deprovisionWorkflowId = (userId: string): string => `deprov:${userId}`;
export interface DeprovisionInput extends Searchable {
  jobId: string;
}
/** Each step is an activity of this name, so that a history reads like the process. */
export type DeprovisionStepName = 'revokeTokens' | 'endSessions' | 'deactivateAutomations' | 'leaveTeam' | 'askOthers';
export interface DeprovisionStep {
  step: DeprovisionStepName;
  /** For steps done per team; null for the others. */
  teamId: string | null;
}
/** Numbers and ids only. */
export type DeprovisionResult = Record<string, number | string | null>;
export interface DeprovisionPlan {
  userId: string;
  /** Steps done by earlier executions. */
  done: (DeprovisionStep & { result: DeprovisionResult })[];
  /** Remaining steps; empty if the job has succeeded. */
  steps: DeprovisionStep[];
}
/** Performs the step, or returns the result of its first execution. */
export type DeprovisionActivity = (jobId: string, teamId: string | null) => Promise<DeprovisionResult>;
export interface DeprovisionActivities {
  /** Marks the job as running, or as done if no step remains; returns null if it has ended. */
  planDeprovision(jobId: string): Promise<DeprovisionPlan | null>;
}

/** Workflow type that revokes the tokens of a deleted connection. */
export const CONNECTION_REVOCATION = 'connectionRevocation';
export const revocationWorkflowId = (revocationId: string): string => `revoke:${revocationId}`;
export interface RevocationActivities {
  /** Returns the outcome; retried until the service is reached. */
  revokeConnection(revocationId: string): Promise<string>;
}

/** Workflow type of a staged plan, which waits for a decision. */
export const AGENT_PLAN = 'agentPlan';
export const planWorkflowId = (actionId: string): string => `plan:${actionId}`;
export interface AgentPlanInput extends Searchable {
  actionId: string;
}
/** State of a plan, read from its row. Ids, counts and codes only. */
export interface PlanView {
  /** `gone`: there is no such plan. */
  state: 'staged' | 'applied' | 'discarded' | 'stale' | 'expired' | 'gone';
  /** Milliseconds until the next change by time, by the database's clock; 0 if none. */
  msLeft: number;
  /** The next change is the reminder. */
  reminds: boolean;
  expiresAt: string | null;
  source: string | null;
  changes: number;
  /** Changes of high risk. */
  high: number;
  decidedBy: string | null;
  decidedAt: string | null;
  /** Why it was discarded: `person`, `superseded`, `source_gone`. */
  reason: string | null;
}
export interface PlanActivities {
  /** Reminds of the plan, or expires it, if its time has come. */
  readPlan(actionId: string): Promise<PlanView>;
}

/** Workflow type of one night of a team's triage, and the id of its schedule. Temporal adds the nominal time to the workflow's id. */
export const OVERNIGHT_TRIAGE = 'overnightTriage';
export const triageScheduleId = (prefix: string, teamId: string): string => `${prefix}triage:${teamId}`;

/** Result of a triage. Ids, counts and codes only. */
export interface TriageResult {
  /**
   * `nothing`: nothing to propose. `done`: the night or the run has its plan already. `off`: not enabled. `blocked`: nobody may write in
   * its name. `refused`: the plan could not be staged, with the code.
   */
  outcome: 'proposed' | 'nothing' | 'done' | 'off' | 'blocked' | 'refused';
  actionId?: string;
  changes?: number;
  risk?: string;
  code?: string;
}
export interface TriageActivities {
  /** Stages the plan of the night with this nominal time. */
  triageNight(teamId: string, nominalTime: string): Promise<TriageResult>;
  /** Stages the plan of a failed CI run, of which this is the last delivery. */
  triageFailure(teamId: string, receiptId: string): Promise<TriageResult>;
}

/** Workflow type of the triage of one failed CI run. */
export const CI_TRIAGE = 'ciTriage';
/** Signal with the id of the receipt of a further delivery of the run. */
export const CI_FAILED_SIGNAL = 'failed';
export interface CiTriageInput {
  teamId: string;
  /** Quiet time after the last delivery, ms. */
  debounceMs: number;
}
export const ciTriageWorkflowId = (repoHash: string, forgeRunId: string): string => `ci:${repoHash}:${forgeRunId}`;
