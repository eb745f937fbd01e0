import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import { AUTOMATION_RUN, type AutomationRunInput, runWorkflowId, taskQueue } from '../../workflows/contract.js';
import { SEARCH_ATTRIBUTES as ATTRIBUTE } from '../../workflows/search-attributes.js';
import { isSent } from '../../api/actions/registry.js';
import type { RunStart } from '../../api/runs/record/create-run.js';
import { TaskId } from '../../api/core/fields.js';
import type { Services } from '../../api/core/context.js';
import { logScope } from '../../api/core/telemetry/log.js';
import { escapeMarkdown } from './escape-markdown.js';
import { freeRun, readOpenRun, recoverRun, wakeExecution } from '../run-execution.js';
import { restartRun } from '../../api/runs/execution/restart-run.js';

/** An outbox row that starts or wakes a run's workflow, with the fields that operators see. */
export interface Dispatch extends Omit<RunStart, 'payload'> {
  kind: 'run.start' | 'run.wake';
  payload: { run_id: string; incarnation?: number; gate_index?: number };
}

const attributesOf = (row: Dispatch): SearchAttributePair[] => [
  { key: ATTRIBUTE.Process, value: 'automation_run' },
  { key: ATTRIBUTE.AutomationId, value: row.automation_id },
  { key: ATTRIBUTE.ActorId, value: row.creator_id },
  { key: ATTRIBUTE.TriggerType, value: row.trigger_type },
  { key: ATTRIBUTE.CorrelationId, value: row.correlation_id },
  { key: ATTRIBUTE.Depth, value: row.depth },
  { key: ATTRIBUTE.IsTest, value: row.is_test },
  ...(row.team_id ? [{ key: ATTRIBUTE.TeamId, value: row.team_id }] : []),
  ...(row.project_id ? [{ key: ATTRIBUTE.ProjectId, value: row.project_id }] : []),
  // A user-written event may contain any text here; Temporal rejects the whole start for a long one.
  ...(row.entity_id && TaskId.parse(row.entity_id) === row.entity_id ? [{ key: ATTRIBUTE.EntityId, value: row.entity_id }] : []),
];

/** Returns one line for the list of workflows, at most 200 bytes. */
const summaryOf = (row: Dispatch): string => {
  const text = `${escapeMarkdown(row.automation_name)} · ${row.trigger_type}${row.retry_of ? ' · replay' : ''}`;
  return Buffer.byteLength(text) <= 200
    ? text
    : `${Buffer.from(text)
        .subarray(0, 190)
        .toString('utf8')
        .replace(/\uFFFD+$/, '')}…`;
};

const detailsOf = (row: Dispatch, pageOf: (runId: string) => string): string =>
  [
    `- Run \`${row.run_id}\`: [page](${pageOf(row.run_id)})`,
    `- Automation \`${row.automation_id}\``,
    ...(row.retry_of
      ? [
          `- Replay of the failed run \`${row.retry_of}\`: [page](${pageOf(row.retry_of)}), workflow \`${runWorkflowId(row.retry_of)}\``,
        ]
      : []),
    ...(row.triggered_by ? [`- ${row.retry_of ? 'Replayed' : 'Set off'} by \`${row.triggered_by}\``] : []),
    `- Correlation id \`${row.correlation_id}\`, as in the logs and the audit log`,
  ].join('\n');

/**
 * Dispatches runs to Temporal. May be repeated by several workers at once: workflow ids come from run ids, and the rows decide.
 */
export class RunDispatcher {
  constructor(
    private readonly services: Services,
    private readonly client: Client,
    private readonly options: {
      taskQueuePrefix: string;
      /** Starts workflows in the worker's own process, without the matching service; needs the worker's connection. */
      eager: boolean;
      /** False if the cluster had no free slots for the search attributes. */
      searchable: boolean;
      /** Returns the address of a run's page in the web app. */
      pageOf: (runId: string) => string;
    },
  ) {}

  /**
   * Starts or wakes the run of one outbox row.
   * @throws the client's error if the server is unavailable; an execution that already started or ended counts as success
   */
  dispatch(row: Dispatch): Promise<void> {
    return logScope.run({ correlation_id: row.correlation_id }, () =>
      row.kind === 'run.start' ? this.start(row) : this.wake(row),
    );
  }

  /** Starts the first incarnation without reading the row: only a conflicting execution reveals a repeated start. */
  private async start(row: Dispatch): Promise<void> {
    const incarnation = row.payload.incarnation ?? 1;
    if (incarnation > 1 || !(await this.tryStart(row, incarnation, 'REJECT_DUPLICATE'))) await this.startAgain(row, incarnation);
  }

  /**
   * Starts a run that may have been started before. Ignores a start of another incarnation than the row's. Wakes the execution
   * that owns the run; if the one that claimed it is lost, restarts the run under the next incarnation.
   */
  private async startAgain(row: Dispatch, incarnation: number): Promise<void> {
    const open = await readOpenRun(this.services, row.run_id);
    if (open?.incarnation !== incarnation) return;
    const found = await freeRun(this.client, open);
    if (found === 'carried') return;
    if (open.claimed_by === null) await this.tryStart(row, incarnation, 'ALLOW_DUPLICATE');
    else if (await restartRun(this.services.db, open, found.free)) this.services.notifyRelay();
  }

  /**
   * Signals the execution that claimed the run. If it is lost, restarts the run at once, so that a decision does not wait for the
   * reconciler.
   */
  private async wake({ run_id, payload }: Dispatch): Promise<void> {
    const row = await readOpenRun(this.services, run_id);
    // An execution that has yet to claim the run reads its rows after that.
    const isUnclaimed = row !== undefined && row.claimed_by === null;
    if (!isUnclaimed && (await wakeExecution(this.client, run_id, row?.claimed_by ?? undefined, payload.gate_index))) return;
    if (row) await recoverRun(this.services, this.client, row);
  }

  /** Returns false if the run's workflow is open, or closed and not restartable. */
  private async tryStart(
    row: Dispatch,
    incarnation: number,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' | 'REJECT_DUPLICATE',
  ): Promise<boolean> {
    try {
      await this.client.workflow.start(AUTOMATION_RUN, {
        workflowId: runWorkflowId(row.run_id),
        taskQueue: taskQueue(this.options.taskQueuePrefix, 'core'),
        args: [this.inputOf(row, incarnation)],
        workflowIdReusePolicy,
        workflowIdConflictPolicy: 'FAIL',
        requestEagerStart: this.options.eager,
        staticSummary: summaryOf(row),
        staticDetails: detailsOf(row, this.options.pageOf),
        // Inherited by its activities: a team with slow receivers does not delay other teams' requests.
        priority: { fairnessKey: row.team_id ?? row.creator_id },
        ...(incarnation > 1 ? { memo: { incarnation } } : {}),
        ...(this.options.searchable ? { typedSearchAttributes: attributesOf(row) } : {}),
      });
      return true;
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
      throw error;
    }
  }

  private inputOf(row: Dispatch, incarnation: number): AutomationRunInput {
    return {
      runId: row.run_id,
      incarnation,
      plan: {
        automationName: escapeMarkdown(row.automation_name),
        triggerType: row.trigger_type,
        // A step without a name is labeled by its type.
        steps: row.steps.map((step) => ({
          ...step,
          ...(step.label !== step.type && { label: escapeMarkdown(step.label) }),
          sends: isSent(step.type),
        })),
        ...(row.is_test ? { isTest: true as const } : {}),
      },
      showsEnd: true,
      ...(this.options.searchable ? {} : { searchable: false }),
    };
  }
}
