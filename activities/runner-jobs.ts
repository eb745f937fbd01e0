import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import type { Services } from '../api/core/context.js';
import { NO_ID } from '../api/core/fields.js';
import { logScope } from '../api/core/telemetry/log.js';
import type { Dispatcher } from '../api/outbox/dispatch-outbox.js';
import { jobDispatchesStatement, openJobsStatement, restartJobsStatement } from '../api/runners/jobs/dispatch-jobs.sql.js';
import { settleJob } from '../api/runners/jobs/settle-job.js';
import { run } from '../db/statement.js';
import {
  JOB_CHANGED_SIGNAL,
  RUNNER_JOB,
  type RunnerJobActivities,
  type RunnerJobInput,
  runnerJobWorkflowId,
  taskQueue,
} from '../workflows/contract.js';
import { SEARCH_ATTRIBUTES as ATTRIBUTE } from '../workflows/search-attributes.js';
import { isWorkflowOpen, listOpenWorkflows } from './worker/open-workflows.js';

/** Activities of a runner's job. */
export const runnerJobActivities = (services: Services): RunnerJobActivities & Record<string, unknown> => ({
  settleRunnerJob: (jobId: string) => settleJob(services, jobId),
});

/** An outbox row that starts or wakes the workflow of a job; the columns of the job are null if it was deleted. */
interface Row {
  outbox_id: number;
  correlation_id: string;
  job_id: string;
  team_id: string;
  is_open: boolean;
  created_by: string | null;
  run_id: string | null;
}

/** Jobs that one pass of the reconciler reads at once. */
const PAGE_SIZE = 1_000;

const attributesOf = (row: Row): SearchAttributePair[] => [
  { key: ATTRIBUTE.Process, value: 'runner_job' },
  { key: ATTRIBUTE.RunState, value: 'queued' },
  { key: ATTRIBUTE.TeamId, value: row.team_id },
  { key: ATTRIBUTE.EntityId, value: row.job_id },
  { key: ATTRIBUTE.CorrelationId, value: row.correlation_id },
  { key: ATTRIBUTE.TriggerType, value: row.run_id ? 'automation' : 'manual' },
  ...(row.created_by ? [{ key: ATTRIBUTE.ActorId, value: row.created_by }] : []),
];

const detailsOf = (row: Row): string =>
  [
    `- Job \`${row.job_id}\` of team \`${row.team_id}\``,
    ...(row.run_id ? [`- Run \`run:${row.run_id}\` waits for it`] : []),
    `- Correlation id \`${row.correlation_id}\`, as in the logs and the audit log`,
  ].join('\n');

/** Starts and wakes the workflows of jobs. May be repeated by several workers at once: the rows decide. */
export class RunnerJobDispatcher implements Dispatcher<Row> {
  readonly kinds = ['runner.job'];
  readonly details = jobDispatchesStatement;

  constructor(
    private readonly client: Client,
    private readonly options: { taskQueuePrefix: string; searchable: boolean },
  ) {}

  async dispatch(row: Row): Promise<void> {
    if (row.is_open) await logScope.run({ correlation_id: row.correlation_id }, () => this.start(row));
    else await this.wake(row.job_id);
  }

  private async start(row: Row): Promise<void> {
    const { taskQueuePrefix, searchable } = this.options;
    const input: RunnerJobInput = { jobId: row.job_id, ...(searchable ? {} : { searchable: false }) };
    await this.client.workflow.signalWithStart(RUNNER_JOB, {
      workflowId: runnerJobWorkflowId(row.job_id),
      taskQueue: taskQueue(taskQueuePrefix, 'core'),
      args: [input],
      signal: JOB_CHANGED_SIGNAL,
      signalArgs: [],
      // A workflow that an operator terminated is started again: only the row says that the job has ended.
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      staticSummary: row.run_id ? 'Runner job of a run' : 'Runner job',
      staticDetails: detailsOf(row),
      priority: { fairnessKey: row.team_id },
      ...(searchable ? { typedSearchAttributes: attributesOf(row) } : {}),
    });
  }

  private async wake(jobId: string): Promise<void> {
    try {
      await this.client.workflow.getHandle(runnerJobWorkflowId(jobId)).signal(JOB_CHANGED_SIGNAL);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }

  /** Starts the workflow of every open job that has none, after a lost store or a terminated workflow. Returns their number. */
  async reconcile(services: Services): Promise<number> {
    const listed = await listOpenWorkflows(this.client, RUNNER_JOB, taskQueue(this.options.taskQueuePrefix, 'core'));
    let restarted = 0;
    for (let after = NO_ID, size = PAGE_SIZE; size === PAGE_SIZE; ) {
      const rows = await run<{ job_id: string }>(services.db, openJobsStatement, [after, PAGE_SIZE]);
      const lost: string[] = [];
      for (const { job_id } of rows) {
        const id = runnerJobWorkflowId(job_id);
        // The list may be behind; only a workflow that is asked for itself is missed.
        if (!listed.has(id) && !(await isWorkflowOpen(this.client, id))) lost.push(job_id);
      }
      if (lost.length > 0) restarted += (await run(services.db, restartJobsStatement, [lost])).length;
      after = rows.at(-1)?.job_id ?? after;
      size = rows.length;
    }
    if (restarted > 0) {
      services.log.warn({ restarted }, 'runner jobs without a workflow were restarted');
      services.notifyRelay();
    }
    return restarted;
  }
}
