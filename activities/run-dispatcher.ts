import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import { AUTOMATION_RUN, type AutomationRunInput, DECIDED_SIGNAL, runWorkflowId, taskQueue } from '../workflows/contract.js';
import { SEARCH_ATTRIBUTES as ATTRIBUTE } from '../workflows/search-attributes.js';
import type { StartOrder } from '../api/automations/match-automations.js';
import { TaskId } from '../api/core/fields.js';
import { logScope } from '../api/core/log.js';
import { plainName } from './plain-name.js';

/** A row of the outbox that starts or wakes a run's workflow, with what an operator should see of the run. */
export interface Dispatch extends Omit<StartOrder, 'payload'> {
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
  // An event that somebody wrote by hand may hold any text there; Temporal refuses the whole start for a long one.
  ...(row.entity_id && TaskId.parse(row.entity_id) === row.entity_id ? [{ key: ATTRIBUTE.EntityId, value: row.entity_id }] : []),
];

/** One line for the list of workflows, at most 200 bytes. */
const summaryOf = (row: Dispatch): string => {
  const text = `${plainName(row.automation_name)} · ${row.trigger_type}`;
  return Buffer.byteLength(text) <= 200
    ? text
    : `${Buffer.from(text)
        .subarray(0, 190)
        .toString('utf8')
        .replace(/\uFFFD+$/, '')}…`;
};

const detailsOf = (row: Dispatch, pageOf: (runId: string) => string): string =>
  [
    `- Run \`${row.run_id}\`: [its page](${pageOf(row.run_id)})`,
    `- Automation \`${row.automation_id}\``,
    `- Correlation id \`${row.correlation_id}\`, as in the logs and the audit log`,
  ].join('\n');

/** Hands runs to Temporal. Everything here may be repeated: ids come from the run, the rows decide. */
export class RunDispatcher {
  constructor(
    private readonly client: Client,
    private readonly options: {
      taskQueuePrefix: string;
      /** Starts in the worker's own process, without a round through the matching service; needs the worker's connection. */
      eager: boolean;
      /** False where an existing cluster had no free slot for the search attributes. */
      searchable: boolean;
      /** Address of a run's page in the web app. */
      pageOf: (runId: string) => string;
    },
  ) {}

  /** @throws what Temporal's client throws when the server is away; a workflow that already started or ended is success */
  async dispatch(row: Dispatch): Promise<void> {
    const incarnation = row.payload.incarnation ?? 1;
    const input: AutomationRunInput = {
      runId: row.run_id,
      incarnation,
      plan: {
        automationName: plainName(row.automation_name),
        triggerType: row.trigger_type,
        // A step without a name of its own is called by its type.
        steps: row.steps.map((step) => (step.label === step.type ? step : { ...step, label: plainName(step.label) })),
        ...(row.is_test ? { isTest: true as const } : {}),
      },
      ...(this.options.searchable ? {} : { searchable: false }),
    };
    const start = {
      workflowId: runWorkflowId(row.run_id),
      taskQueue: taskQueue(this.options.taskQueuePrefix, 'core'),
      args: [input] as [AutomationRunInput],
      // A new incarnation follows a lost one; otherwise one workflow a run, for ever (the run's row guards beyond retention).
      workflowIdReusePolicy: incarnation > 1 ? ('ALLOW_DUPLICATE' as const) : ('REJECT_DUPLICATE' as const),
      workflowIdConflictPolicy: 'USE_EXISTING' as const,
      staticSummary: summaryOf(row),
      staticDetails: detailsOf(row, this.options.pageOf),
      // Handed on to its activities: a team whose receivers are slow does not stand in front of the others' requests.
      priority: { fairnessKey: row.team_id ?? row.creator_id },
      ...(this.options.searchable ? { typedSearchAttributes: attributesOf(row) } : {}),
    };
    await logScope.run({ correlation_id: row.correlation_id }, async () => {
      try {
        if (row.kind === 'run.start')
          await this.client.workflow.start(AUTOMATION_RUN, { ...start, requestEagerStart: this.options.eager });
        else
          await this.client.workflow.signalWithStart(AUTOMATION_RUN, {
            ...start,
            signal: DECIDED_SIGNAL,
            signalArgs: [row.payload.gate_index],
          });
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    });
  }
}
