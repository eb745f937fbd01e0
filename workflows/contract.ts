/** Names and shapes shared by the API, the worker and the workflows: no Temporal import, no code that waits (architecture, 3). */

const TASK_QUEUES = { core: 'core', outbound: 'outbound' } as const;
/** With TASK_QUEUE_PREFIX, so that installations and test files on one server stay apart. */
export const taskQueue = (prefix: string, queue: keyof typeof TASK_QUEUES): string => `${prefix}${TASK_QUEUES[queue]}`;

/** Workflow type of a run: the exported name in workflows/index.ts. */
export const AUTOMATION_RUN = 'automationRun';
/** Something about the run was decided; the rows say what. */
export const DECIDED_SIGNAL = 'decided';
/** Header and memo key that carries the id of the request which set everything off. */
export const CORRELATION_HEADER = 'correlation-id';

/** Workflow ids come from business keys (durability notes, 2). */
export const runWorkflowId = (runId: string): string => `run:${runId}`;

export interface AutomationRunInput {
  runId: string;
  /** Raised when a run is started again from its row; a stale start finds nothing to claim. */
  incarnation: number;
}

/** One step of a run: what the workflow needs to know to order and to name it, never what it carries. */
export interface RunStep {
  index: number;
  /** The action's type, which is also the name of its activity. */
  type: string;
  /** The action's own name, or its type. */
  label: string;
}

export interface RunPlan {
  automationName: string;
  triggerType: string;
  steps: RunStep[];
}

/** What became of an action: `stop` when it failed and the automation says to stop there. */
export type ActionOutcome = 'succeeded' | 'failed' | 'skipped' | 'stop';

export interface GateView {
  state: 'pending' | 'lapsed' | 'approved' | 'closed';
  /** Until the next thing that time does to the gate, ms by the database's clock; 0 when nothing more. */
  msLeft: number;
  requiredRole: string;
  expiresAt: string;
  decidedAt: string | null;
}

/** Activities of a run besides the actions, which are named after their types. */
export interface RunActivities {
  claimRun(input: AutomationRunInput): Promise<RunPlan | null>;
  openGate(runId: string, index: number): Promise<GateView>;
  readGate(runId: string, index: number): Promise<GateView>;
  finishRun(runId: string, cancelled: boolean): Promise<string>;
}
export type ActionActivity = (runId: string, index: number) => Promise<ActionOutcome>;

/** Workflow type of the chores, and what each does on its schedule. */
export const HOUSEKEEPING = 'housekeeping';
export type Chore = 'audit-checkpoint' | 'forge-receipts';
export interface ChoreActivities {
  /** Does one round; returns one line of what was done. */
  runChore(chore: Chore): Promise<string>;
}
