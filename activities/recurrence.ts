import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import type { Services } from '../api/core/context.js';
import { logScope } from '../api/core/telemetry/log.js';
import type { Dispatcher } from '../api/outbox/dispatch-outbox.js';
import { advanceSeries } from '../api/recurrence/series/advance-series.js';
import { ruleInWords } from '../api/recurrence/describe-rule.js';
import type { Recurrence } from '../api/recurrence/rules.js';
import {
  RECURRING_TASK,
  type RecurringTaskInput,
  SERIES_SIGNALS,
  type SeriesActivities,
  seriesWorkflowId,
  taskQueue,
} from '../workflows/contract.js';
import { SEARCH_ATTRIBUTES as ATTRIBUTE } from '../workflows/search-attributes.js';
import { hasAttributes, listOpenWorkflows, type OpenWorkflow, SETTLED_AFTER_MS } from './worker/open-workflows.js';
import { newId } from '../api/core/ids.js';

/** Activities of a recurring series. */
export const recurrenceActivities = (services: Services): SeriesActivities & Record<string, unknown> => ({
  advanceSeries: (seriesId: string) => advanceSeries(services, seriesId),
});

/** An outbox row that wakes a series, with the fields that operators see. */
interface Wake {
  outbox_id: number;
  kind: keyof typeof SERIES_SIGNALS;
  occurrence_index: number | null;
  correlation_id: string;
  series_id: string;
  team_id: string;
  project_id: string | null;
  created_by: string;
  rule: string;
  mode: Recurrence['mode'];
  timezone: string;
  last_task_id: string | null;
}

/** $1 = leased rows. */
const details = {
  name: 'series_dispatches',
  text: /* sql */ `
    select o.outbox_id, o.kind, o.correlation_id, (o.payload->>'occurrence_index')::int as occurrence_index, s.series_id, s.team_id,
      o.project_id, s.created_by, s.recurrence->>'rule' as rule, s.recurrence->>'mode' as mode, s.recurrence->>'timezone' as timezone,
      s.last_task_id
    from outbox o join task_series s on s.series_id = (o.payload->>'series_id')::uuid where o.outbox_id = any($1::bigint[])`,
};

const attributesOf = (row: Wake): SearchAttributePair[] => [
  { key: ATTRIBUTE.Process, value: 'recurring_task' },
  { key: ATTRIBUTE.RunState, value: 'waiting' },
  { key: ATTRIBUTE.TeamId, value: row.team_id },
  { key: ATTRIBUTE.ActorId, value: row.created_by },
  { key: ATTRIBUTE.CorrelationId, value: row.correlation_id },
  ...(row.project_id ? [{ key: ATTRIBUTE.ProjectId, value: row.project_id }] : []),
  ...(row.last_task_id ? [{ key: ATTRIBUTE.EntityId, value: row.last_task_id }] : []),
];

/** Returns one line for the list of workflows, at most 200 bytes: the rule, never the task's title. */
const summaryOf = (row: Wake): string => {
  const words = ruleInWords(row);
  return `${words.length <= 140 ? words : `${words.slice(0, 137)}…`} (${row.timezone})`;
};

const detailsOf = (row: Wake): string =>
  [
    `Series \`${row.series_id}\` of team \`${row.team_id}\``,
    `Correlation id of the start \`${row.correlation_id}\` (in the logs and the audit log)`,
  ].join('\n\n');

interface OpenSeries {
  series_id: string;
  last_task_id: string | null;
  next_at: Date | null;
  /** The newest occurrence is done and has no successor yet. */
  is_due: boolean;
}

/** Open series without a row in the outbox. */
const OPEN = /* sql */ `
  select series_id, last_task_id, next_at, completed_index >= last_index and blocked_reason is null as is_due from task_series s
  where ended_at is null and not exists (select from outbox o where o.subject = s.series_id::text and o.kind like 'series.%')
  order by started_at`;

const WAKE = /* sql */ `
  insert into outbox (kind, subject, team_id, payload, correlation_id)
  select 'series.changed', series_id::text, team_id, jsonb_build_object('series_id', series_id, 'occurrence_index', last_index), ?::uuid
  from task_series where series_id = any(?) and ended_at is null`;

/** Returns true if the workflow waits for something else than its row: one of the stores was restored from an older backup. */
const isOutOfStep = ({ last_task_id, next_at, is_due }: OpenSeries, { attributes }: OpenWorkflow): boolean =>
  is_due ||
  (attributes.get(ATTRIBUTE.EntityId) ?? null) !== last_task_id ||
  attributes.get(ATTRIBUTE.NextAttemptAt)?.getTime() !== next_at?.getTime();

/** Wakes the workflow of a series that ended or was deleted; it reads its row and ends. */
async function wakeEnded(client: Client, workflowId: string): Promise<void> {
  try {
    await client.workflow.getHandle(workflowId).signal(SERIES_SIGNALS['series.changed'], null);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

/** Wakes series in Temporal and starts missing workflows. May be repeated, because the rows decide. */
export class SeriesDispatcher implements Dispatcher<Wake> {
  readonly kinds = Object.keys(SERIES_SIGNALS);
  readonly details = details;

  constructor(
    private readonly client: Client,
    private readonly options: { taskQueuePrefix: string; searchable: boolean },
  ) {}

  /**
   * Restarts the workflow of every open series that has none, after a lost store or a terminated or timed-out workflow. Wakes
   * workflows that differ from their row, and those whose series ended or was deleted. Compares one list of running workflows
   * with the rows, so ten thousand series cost ten calls. Returns the number restarted.
   */
  async reconcile({ db, log, notifyRelay }: Services, isFirst: boolean): Promise<number> {
    const queue = taskQueue(this.options.taskQueuePrefix, 'core');
    const listed = await listOpenWorkflows(this.client, RECURRING_TASK, queue);
    const { rows } = await db.raw<{ rows: OpenSeries[] }>(OPEN);
    const lost: string[] = [];
    const behind: string[] = [];
    for (const row of rows) {
      const found = listed.get(seriesWorkflowId(row.series_id));
      listed.delete(seriesWorkflowId(row.series_id));
      if (!found) lost.push(row.series_id);
      else if (hasAttributes(found) ? isOutOfStep(row, found) : isFirst) behind.push(row.series_id);
    }
    if (lost.length + behind.length > 0) await db.raw(WAKE, [newId(), [...lost, ...behind]]);
    if (lost.length > 0) log.warn({ restarted: lost.length }, 'series without a workflow were restarted');
    for (const { workflowId, startTime } of listed.values()) {
      if (Date.now() - startTime.getTime() > SETTLED_AFTER_MS) await wakeEnded(this.client, workflowId);
    }
    notifyRelay();
    return lost.length;
  }

  async dispatch(row: Wake): Promise<void> {
    const input: RecurringTaskInput = { seriesId: row.series_id, ...(this.options.searchable ? {} : { searchable: false }) };
    await logScope.run({ correlation_id: row.correlation_id }, () =>
      this.client.workflow.signalWithStart(RECURRING_TASK, {
        workflowId: seriesWorkflowId(row.series_id),
        taskQueue: taskQueue(this.options.taskQueuePrefix, 'core'),
        args: [input],
        signal: SERIES_SIGNALS[row.kind],
        signalArgs: [row.occurrence_index],
        // A series that ended may be resumed; its row decides.
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
        staticSummary: summaryOf(row),
        staticDetails: detailsOf(row),
        ...(this.options.searchable ? { typedSearchAttributes: attributesOf(row) } : {}),
      }),
    );
  }
}
