import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import { watchPlan } from '../api/agent/plans/waiting/watch-plan.js';
import { openPlansStatement, planDispatchesStatement, restartPlansStatement } from '../api/agent/plans/waiting/watch-plan.sql.js';
import type { Services } from '../api/core/context.js';
import { NO_ID } from '../api/core/fields.js';
import { logScope } from '../api/core/telemetry/log.js';
import type { Dispatcher } from '../api/outbox/dispatch-outbox.js';
import { run } from '../db/statement.js';
import {
  AGENT_PLAN,
  type AgentPlanInput,
  DECIDED_SIGNAL,
  type PlanActivities,
  planWorkflowId,
  taskQueue,
} from '../workflows/contract.js';
import { SEARCH_ATTRIBUTES as ATTRIBUTE } from '../workflows/search-attributes.js';
import { isWorkflowOpen, listOpenWorkflows, SETTLED_AFTER_MS } from './worker/open-workflows.js';

/** Activities of a staged plan. */
export const planActivities = (services: Services): PlanActivities & Record<string, unknown> => ({
  readPlan: (actionId: string) => watchPlan(services, actionId),
});

/** An outbox row that starts or wakes a plan. */
interface Row {
  outbox_id: number;
  kind: 'plan.start' | 'plan.wake';
  correlation_id: string;
  action_id: string;
  session_id: string;
  /** Of a chat: the team of its first change. */
  team_id: string | null;
  project_id: string | null;
  staged_for: string;
  source: string;
  status: string;
  depth: number;
  expires_at: Date;
  changes: number;
  high: number;
}

/** Plans that one pass of the reconciler reads at once. */
const PAGE_SIZE = 1_000;

/** What caused a plan, in the words of the search attribute. */
const TRIGGERS: Record<string, string> = {
  chat: 'chat',
  overnight_triage: 'schedule',
  ci_failure_triage: 'event',
  automation: 'event',
  mcp: 'mcp',
};

const attributesOf = (row: Row): SearchAttributePair[] => [
  { key: ATTRIBUTE.Process, value: 'agent_plan' },
  { key: ATTRIBUTE.RunState, value: 'paused' },
  { key: ATTRIBUTE.GateState, value: 'pending' },
  { key: ATTRIBUTE.GateExpiresAt, value: row.expires_at },
  { key: ATTRIBUTE.TriggerType, value: TRIGGERS[row.source] ?? row.source },
  { key: ATTRIBUTE.EntityId, value: row.action_id },
  { key: ATTRIBUTE.ActorId, value: row.staged_for },
  { key: ATTRIBUTE.CorrelationId, value: row.correlation_id },
  ...(row.depth > 0 ? [{ key: ATTRIBUTE.Depth, value: row.depth }] : []),
  ...(row.team_id ? [{ key: ATTRIBUTE.TeamId, value: row.team_id }] : []),
  ...(row.project_id ? [{ key: ATTRIBUTE.ProjectId, value: row.project_id }] : []),
];

/** Name of a plan in the list of workflows: counts, never a title. */
const summaryOf = ({ changes, high }: Row): string =>
  `Plan: ${changes} ${changes === 1 ? 'change' : 'changes'}${high > 0 ? `, ${high} high` : ''}`;

const detailsOf = (row: Row): string =>
  [
    `- Plan \`${row.action_id}\` of session \`${row.session_id}\``,
    `- Correlation id \`${row.correlation_id}\`, as in the logs and the audit log`,
  ].join('\n');

/** Starts the workflows of staged plans and wakes them. May be repeated by several workers at once: the rows decide. */
export class PlanDispatcher implements Dispatcher<Row> {
  readonly kinds = ['plan.start', 'plan.wake'];
  readonly details = planDispatchesStatement;

  constructor(
    private readonly client: Client,
    private readonly options: { taskQueuePrefix: string; searchable: boolean },
  ) {}

  /** A plan that was decided before its start needs no workflow. */
  async dispatch(row: Row): Promise<void> {
    const isFound = row.kind === 'plan.wake' && (await this.wake(row.action_id));
    if (isFound || row.status !== 'staged') return;
    await logScope.run({ correlation_id: row.correlation_id }, () => this.start(row));
  }

  private async start(row: Row): Promise<void> {
    const { taskQueuePrefix, searchable } = this.options;
    const input: AgentPlanInput = { actionId: row.action_id, ...(searchable ? {} : { searchable: false }) };
    const started = this.client.workflow.start(AGENT_PLAN, {
      workflowId: planWorkflowId(row.action_id),
      taskQueue: taskQueue(taskQueuePrefix, 'core'),
      args: [input],
      // After a lost execution, the next one finds everything in the row.
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      staticSummary: summaryOf(row),
      staticDetails: detailsOf(row),
      priority: { fairnessKey: row.team_id ?? row.staged_for },
      ...(searchable ? { typedSearchAttributes: attributesOf(row) } : {}),
    });
    await started.catch((error: unknown) => {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    });
  }

  /** Returns false if no execution is open. */
  private async wake(actionId: string): Promise<boolean> {
    try {
      await this.client.workflow.getHandle(planWorkflowId(actionId)).signal(DECIDED_SIGNAL);
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  }

  /**
   * Starts the workflow of every staged plan that has none, after a lost store or a terminated workflow, and wakes the workflows of plans that
   * have ended. Returns the number started.
   */
  async reconcile(services: Services): Promise<number> {
    const listed = await listOpenWorkflows(this.client, AGENT_PLAN, taskQueue(this.options.taskQueuePrefix, 'core'));
    let restarted = 0;
    for (let after = NO_ID, size = PAGE_SIZE; size === PAGE_SIZE; ) {
      const rows = await run<{ action_id: string }>(services.db, openPlansStatement, [after, PAGE_SIZE]);
      const lost: string[] = [];
      for (const { action_id } of rows) {
        const id = planWorkflowId(action_id);
        // The list may be behind; only a workflow that is asked for itself is missed.
        if (!listed.delete(id) && !(await isWorkflowOpen(this.client, id))) lost.push(action_id);
      }
      if (lost.length > 0) restarted += (await run(services.db, restartPlansStatement, [lost])).length;
      after = rows.at(-1)?.action_id ?? after;
      size = rows.length;
    }
    for (const { workflowId, startTime } of listed.values()) {
      if (Date.now() - startTime.getTime() > SETTLED_AFTER_MS) await this.wake(workflowId.slice(planWorkflowId('').length));
    }
    if (restarted > 0) {
      services.log.warn({ restarted }, 'plans without a workflow were restarted');
      services.notifyRelay();
    }
    return restarted;
  }
}
