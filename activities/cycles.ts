import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import { completeDueCycle } from '../api/cycles/completion/complete-due-cycle.js';
import {
  cycleDispatchesStatement,
  openClocksStatement,
  restartClocksStatement,
} from '../api/cycles/completion/due-cycles.sql.js';
import type { Services } from '../api/core/context.js';
import { NO_ID } from '../api/core/fields.js';
import { logScope } from '../api/core/telemetry/log.js';
import type { Dispatcher } from '../api/outbox/dispatch-outbox.js';
import { run } from '../db/statement.js';
import {
  CYCLE_CLOCK,
  CYCLE_SIGNALS,
  type CycleActivities,
  type CycleClockInput,
  cycleWorkflowId,
  taskQueue,
} from '../workflows/contract.js';
import { SEARCH_ATTRIBUTES as ATTRIBUTE } from '../workflows/search-attributes.js';
import { hasAttributes, isWorkflowOpen, listOpenWorkflows, SETTLED_AFTER_MS } from './worker/open-workflows.js';

/** Activities of a cycle's clock. */
export const cycleActivities = (services: Services): CycleActivities & Record<string, unknown> => ({
  completeDueCycle: (cycleId: string) => completeDueCycle(services, cycleId),
});

/** An outbox row that starts or wakes a clock; the columns of the cycle are null if it was deleted. */
interface Row {
  outbox_id: number;
  correlation_id: string;
  cycle_id: string;
  team_id: string;
  project_id: string | null;
  number: number | null;
  status: string | null;
  created_by: string | null;
  due_at: Date | null;
}

/** Cycles that one pass of the reconciler reads at once. */
const PAGE_SIZE = 1_000;

const attributesOf = (row: Row): SearchAttributePair[] => [
  { key: ATTRIBUTE.Process, value: 'cycle' },
  { key: ATTRIBUTE.RunState, value: 'waiting' },
  { key: ATTRIBUTE.TriggerType, value: 'schedule' },
  { key: ATTRIBUTE.TeamId, value: row.team_id },
  { key: ATTRIBUTE.EntityId, value: row.cycle_id },
  { key: ATTRIBUTE.CorrelationId, value: row.correlation_id },
  ...(row.project_id ? [{ key: ATTRIBUTE.ProjectId, value: row.project_id }] : []),
  ...(row.created_by ? [{ key: ATTRIBUTE.ActorId, value: row.created_by }] : []),
  ...(row.due_at ? [{ key: ATTRIBUTE.NextAttemptAt, value: row.due_at }] : []),
];

const detailsOf = (row: Row): string =>
  [
    `- Cycle \`${row.cycle_id}\` of team \`${row.team_id}\``,
    `- Correlation id \`${row.correlation_id}\`, as in the logs and the audit log`,
  ].join('\n');

/** Starts and wakes the clocks of cycles. May be repeated by several workers at once: the rows decide. */
export class CycleDispatcher implements Dispatcher<Row> {
  readonly kinds = ['cycle.clock'];
  readonly details = cycleDispatchesStatement;

  constructor(
    private readonly client: Client,
    private readonly options: { taskQueuePrefix: string; searchable: boolean },
  ) {}

  /** Only a cycle that a date completes needs a clock; another one has at most one to wake. */
  async dispatch(row: Row): Promise<void> {
    if (row.due_at === null) await this.wake(row.cycle_id, row.status === 'completed' ? 'completed' : 'datesChanged');
    else await logScope.run({ correlation_id: row.correlation_id }, () => this.start(row));
  }

  private async start(row: Row): Promise<void> {
    const { taskQueuePrefix, searchable } = this.options;
    const input: CycleClockInput = { cycleId: row.cycle_id, ...(searchable ? {} : { searchable: false }) };
    await this.client.workflow.signalWithStart(CYCLE_CLOCK, {
      workflowId: cycleWorkflowId(row.cycle_id),
      taskQueue: taskQueue(taskQueuePrefix, 'core'),
      args: [input],
      signal: CYCLE_SIGNALS.datesChanged,
      signalArgs: [],
      // A clock that was switched off may be switched on again; the row decides.
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      staticSummary: `Cycle ${row.number}, until ${row.due_at?.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
      staticDetails: detailsOf(row),
      priority: { fairnessKey: row.team_id },
      ...(searchable ? { typedSearchAttributes: attributesOf(row) } : {}),
    });
  }

  private async wake(cycleId: string, signal: keyof typeof CYCLE_SIGNALS): Promise<void> {
    try {
      await this.client.workflow.getHandle(cycleWorkflowId(cycleId)).signal(CYCLE_SIGNALS[signal]);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }

  /**
   * Starts the clock of every cycle that a date completes and that has none, after a lost store or a terminated workflow. Wakes clocks that
   * wait for another time than the row's, and those of cycles that no date completes. Returns the number started.
   */
  async reconcile(services: Services): Promise<number> {
    const listed = await listOpenWorkflows(this.client, CYCLE_CLOCK, taskQueue(this.options.taskQueuePrefix, 'core'));
    let restarted = 0;
    for (let after = NO_ID, size = PAGE_SIZE; size === PAGE_SIZE; ) {
      const rows = await run<{ cycle_id: string; due_at: Date }>(services.db, openClocksStatement, [after, PAGE_SIZE]);
      const lost: string[] = [];
      for (const { cycle_id, due_at } of rows) {
        const id = cycleWorkflowId(cycle_id);
        const found = listed.get(id);
        listed.delete(id);
        const isBehind =
          found && hasAttributes(found) && found.attributes.get(ATTRIBUTE.NextAttemptAt)?.getTime() !== due_at.getTime();
        if (isBehind) await this.wake(cycle_id, 'datesChanged');
        // The list may be behind; only a workflow that is asked for itself is missed.
        else if (!found && !(await isWorkflowOpen(this.client, id))) lost.push(cycle_id);
      }
      if (lost.length > 0) restarted += (await run(services.db, restartClocksStatement, [lost])).length;
      after = rows.at(-1)?.cycle_id ?? after;
      size = rows.length;
    }
    for (const { workflowId, startTime } of listed.values()) {
      if (Date.now() - startTime.getTime() > SETTLED_AFTER_MS) {
        await this.wake(workflowId.slice(cycleWorkflowId('').length), 'datesChanged');
      }
    }
    if (restarted > 0) {
      services.log.warn({ restarted }, 'cycles without a workflow were restarted');
      services.notifyRelay();
    }
    return restarted;
  }
}
