/** Names and shapes shared by the API, the worker and the workflows: no Temporal import, no code that waits (architecture, 3). */

const TASK_QUEUES = { core: 'core', outbound: 'outbound' } as const;
/** With TASK_QUEUE_PREFIX, so that installations and test files on one server stay apart. */
export const taskQueue = (prefix: string, queue: keyof typeof TASK_QUEUES): string => `${prefix}${TASK_QUEUES[queue]}`;

/** The queue for what calls other servers, beside the one that a workflow runs on. */
export const outboundQueue = (core: string): string =>
  taskQueue(core.slice(0, core.length - TASK_QUEUES.core.length), 'outbound');

/**
 * While an action waits for another server its worker says every so often that it is still there. One that dies in the middle is missed
 * after the second time, not only when the whole action has had its time.
 */
export const OUTBOUND_HEARTBEAT = { everyMs: 3_000, missedAfterMs: 10_000 } as const;

/** Workflow type of a run: the exported name in workflows/index.ts. */
export const AUTOMATION_RUN = 'automationRun';
/** Something about the run was decided; the rows say what. */
export const DECIDED_SIGNAL = 'decided';
/** Header and memo key that carries the id of the request which set everything off. */
export const CORRELATION_HEADER = 'correlation-id';

/** Workflow ids come from business keys (durability notes, 2). */
export const runWorkflowId = (runId: string): string => `run:${runId}`;

interface Searchable {
  /** False on a cluster that has no room for the search attributes: the workflow then sets none. */
  searchable?: false;
}

/** Which run, and which start of it: every activity of a run says so, and the first that comes takes the run for its execution. */
export interface RunRef {
  runId: string;
  /** Raised when a run is started again from its row; a stale start finds nothing to claim. */
  incarnation: number;
}

export interface AutomationRunInput extends Searchable, RunRef {
  plan: RunPlan;
}

/** One step of a run: what the workflow needs to know to order and to name it, never what it carries. */
export interface RunStep {
  index: number;
  /** The action's type, which is also the name of its activity. */
  type: string;
  /** The action's own name, or its type. */
  label: string;
}

/** Known when the run is made, and part of its start: the workflow asks nobody before its first action. */
export interface RunPlan {
  automationName: string;
  triggerType: string;
  steps: RunStep[];
  /** Played through without effects. */
  isTest?: true;
}

/** What became of an action: `stop` when it failed and the automation says to stop there. */
export type ActionOutcome = 'succeeded' | 'failed' | 'skipped' | 'stop' | 'waiting';

/** A step that goes on later: a delay under way, or an action that failed and is to be tried again. */
export interface Wait {
  /** By the database's clock. */
  msLeft: number;
  until: string;
  /** The try that comes then, and how many there are; absent for a delay. */
  attempt?: { next: number; of: number };
}

export interface ActionResult {
  outcome: ActionOutcome;
  /** Why it failed: the error's code, never its words. Absent in what was recorded before it was told. */
  code?: string;
  /** Present while `outcome` is `waiting`: ask again when it is over, or when woken. */
  wait?: Wait;
  /** How the run ended, with this action or before it; null: another execution carries it. Absent while it goes on. */
  ended?: string | null;
}

export interface GateView {
  state: 'pending' | 'lapsed' | 'approved' | 'closed';
  /** Until the next thing that time does to the gate, ms by the database's clock; 0 when nothing more. */
  msLeft: number;
  requiredRole: string;
  /** Different people who must approve; absent in what was recorded before there were several. */
  requiredApprovals?: number;
  /** How many have approved so far; absent in what was recorded before it was told. */
  approvals?: number;
  /** Closed because somebody rejected it. */
  rejected?: true;
  /** Ids of the users who decided: all who approved, or the one who rejected. Absent in histories recorded before. */
  decidedBy?: string[];
  /** The reminder is what comes next. */
  reminds?: boolean;
  expiresAt: string;
  decidedAt: string | null;
}

/** Result of a run's workflow, shown in Temporal's list. Fixed words and codes only: no text that a user or a server wrote. */
export interface RunResult {
  /** Status of the run's row; `superseded` when the run had ended before, or when another execution owns it. */
  status: string;
  /** Label of the step that decided the end; null when no single step did. */
  step: string | null;
  message: string;
}

/** Activities of a run besides the actions, which are named after their types. */
export interface RunActivities {
  openGate(run: RunRef, index: number): Promise<GateView>;
  readGate(runId: string, index: number): Promise<GateView>;
  /** How the run ended; null when another execution carries it. */
  finishRun(run: RunRef, cancelled: boolean): Promise<string | null>;
}
export type ActionActivity = (run: RunRef, index: number) => Promise<ActionResult>;

/** Workflow type of one nominal time of an automation's schedule, and the id of that schedule. */
export const AUTOMATION_SCHEDULE = 'automationSchedule';
export const scheduleId = (prefix: string, automationId: string): string => `${prefix}sched:${automationId}`;
export interface ScheduleActivities {
  /** Makes the run of this time; returns what became of it. */
  fireSchedule(automationId: string, nominalTime: string): Promise<string>;
}

/** Workflow type of a recurring series: one for all its occurrences. */
export const RECURRING_TASK = 'recurringTask';
export const seriesWorkflowId = (seriesId: string): string => `series:${seriesId}`;
/** What woke a series, by the kind of the outbox row that tells it; the rows say what there is to do. */
export const SERIES_SIGNALS = {
  'series.completed': 'completed',
  'series.changed': 'ruleChanged',
  'series.ended': 'end',
} as const;
export interface RecurringTaskInput extends Searchable {
  seriesId: string;
  /** Rounds until the history starts anew; fewer in tests. */
  rounds?: number;
}

/** Where a series stands after everything that was due. Ids, numbers and dates only. */
export interface SeriesView {
  /** `resting`: its newest occurrence is in the trash. `blocked`: nobody is left who may write in its name. */
  state: 'waiting' | 'resting' | 'blocked' | 'ended';
  /** True when an occurrence was made just now; there may be more to do. */
  made: boolean;
  rule: string;
  mode: 'on_complete' | 'on_schedule';
  timezone: string;
  index: number;
  taskId: string | null;
  dueDate: string | null;
  /** When the next occurrence comes by itself, and how long that is by the database's clock; null when nothing comes by itself. */
  nextAt: string | null;
  msLeft: number | null;
  /** Why it ended or does not go on. */
  reason: string | null;
}
export interface SeriesActivities {
  /** Makes the next occurrence if it is due; null when there is no such series. */
  advanceSeries(seriesId: string): Promise<SeriesView | null>;
}

/** Workflow type of somebody's leaving the installation for good (A11). */
export const USER_DEPROVISION = 'userDeprovision';
export const deprovisionWorkflowId = (userId: string): string => `deprov:${userId}`;
export interface DeprovisionInput extends Searchable {
  jobId: string;
}
/** A step is an activity of this name, so that a history reads like what happened. */
export type DeprovisionStepName = 'revokeTokens' | 'endSessions' | 'deactivateAutomations' | 'leaveTeam' | 'askOthers';
export interface DeprovisionStep {
  step: DeprovisionStepName;
  /** Of the steps that are done team by team; null for the others. */
  teamId: string | null;
}
/** Numbers and ids only. */
export type DeprovisionResult = Record<string, number | string | null>;
export interface DeprovisionPlan {
  userId: string;
  /** What earlier executions did. */
  done: (DeprovisionStep & { result: DeprovisionResult })[];
  /** What is left to do; nothing: the job has succeeded. */
  steps: DeprovisionStep[];
}
/** Does the step, or says again what it did. */
export type DeprovisionActivity = (jobId: string, teamId: string | null) => Promise<DeprovisionResult>;
export interface DeprovisionActivities {
  /** Marks the job as under way, or as done where nothing is left; null when it is over. */
  planDeprovision(jobId: string): Promise<DeprovisionPlan | null>;
}

/** Workflow type of what takes back the tokens of a connection that was ended. */
export const CONNECTION_REVOCATION = 'connectionRevocation';
export const revocationWorkflowId = (revocationId: string): string => `revoke:${revocationId}`;
export interface RevocationActivities {
  /** Says what came of it; repeated until the service was reached. */
  revokeConnection(revocationId: string): Promise<string>;
}

/** Workflow type of the chores, and what each does on its schedule. */
export const HOUSEKEEPING = 'housekeeping';
export type MaintenanceJob =
  | 'accounts'
  | 'audit-checkpoint'
  | 'due-scan'
  | 'forge-receipts'
  | 'idempotency-keys'
  | 'rate-limits'
  | 'run-history'
  | 'token-expiry'
  | 'trash-purge';
export interface MaintenanceActivities {
  /** Does one round; returns one line of what was done. */
  runChore(chore: MaintenanceJob): Promise<string>;
}
