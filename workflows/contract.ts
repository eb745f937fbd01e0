/** Names shared by the API, the worker and the workflows: no Temporal import, no code that runs (architecture, 3). */

export const TASK_QUEUES = { core: 'core', outbound: 'outbound' } as const;
/** With TASK_QUEUE_PREFIX, so that installations and test files on one server stay apart. */
export const taskQueue = (prefix: string, queue: keyof typeof TASK_QUEUES): string => `${prefix}${TASK_QUEUES[queue]}`;

/** Workflow types: the exported names of workflows/index.ts. */
export const AUTOMATION_RUN = 'automationRun';
/** Something about the run was decided: the row says what. Carries the gate's index for the reader of the history only. */
export const DECIDED_SIGNAL = 'decided';

export interface AutomationRunInput {
  runId: string;
  /** Raised when a run is started again from its row; a stale start finds no row to claim. */
  incarnation: number;
}

/** Ids of workflows come from business keys (durability notes, 2). */
export const runWorkflowId = (runId: string): string => `run:${runId}`;
