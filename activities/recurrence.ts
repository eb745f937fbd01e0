import type { Client } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import { v7 as uuidv7 } from 'uuid';
import type { Services } from '../api/core/context.js';
import { logScope } from '../api/core/log.js';
import { advanceSeries } from '../api/recurrence/advance-series.js';
import { ruleInWords } from '../api/recurrence/in-words.js';
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
import { handOver, leaseOf } from './hand-over.js';

/** Activities of a recurring series. */
export const recurrenceActivities = (services: Services): SeriesActivities & Record<string, unknown> => ({
  advanceSeries: (seriesId: string) => advanceSeries(services, seriesId),
});

/** A row of the outbox that wakes a series, with what an operator should see of it. */
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

const LEASE = leaseOf({
  table: 'task_series',
  match: `s.series_id = (o.payload->>'series_id')::uuid`,
  columns: `(o.payload->>'occurrence_index')::int as occurrence_index, s.series_id, s.team_id, o.project_id, s.created_by,
    s.recurrence->>'rule' as rule, s.recurrence->>'mode' as mode, s.recurrence->>'timezone' as timezone, s.last_task_id`,
});

const attributesOf = (row: Wake): SearchAttributePair[] => [
  { key: ATTRIBUTE.Process, value: 'recurring_task' },
  { key: ATTRIBUTE.RunState, value: 'waiting' },
  { key: ATTRIBUTE.TeamId, value: row.team_id },
  { key: ATTRIBUTE.ActorId, value: row.created_by },
  { key: ATTRIBUTE.CorrelationId, value: row.correlation_id },
  ...(row.project_id ? [{ key: ATTRIBUTE.ProjectId, value: row.project_id }] : []),
  ...(row.last_task_id ? [{ key: ATTRIBUTE.EntityId, value: row.last_task_id }] : []),
];

/** One line for the list of workflows, at most 200 bytes: the rule in words, never the task's title. */
const summaryOf = (row: Wake): string => {
  const words = ruleInWords(row);
  return `${words.length <= 140 ? words : `${words.slice(0, 137)}…`} (${row.timezone})`;
};

const detailsOf = (row: Wake): string =>
  [
    `Series \`${row.series_id}\` of team \`${row.team_id}\``,
    `Correlation id of what started it \`${row.correlation_id}\` (search the logs and the audit log for it)`,
  ].join('\n\n');

/** Wakes series in Temporal, starting the workflow of one that has none: everything here may be repeated, the rows decide. */
export class SeriesDispatcher {
  constructor(
    private readonly client: Client,
    private readonly options: { taskQueuePrefix: string; searchable: boolean },
  ) {}

  /** Hands over what is due. Returns how many rows were taken; without Temporal they wait. */
  async pass(services: Services): Promise<number> {
    const { rows } = await services.db.raw<{ rows: Wake[] }>(LEASE, [Object.keys(SERIES_SIGNALS)]);
    return handOver(services, rows, (row) => this.wake(row));
  }

  private async wake(row: Wake): Promise<void> {
    const input: RecurringTaskInput = { seriesId: row.series_id, ...(this.options.searchable ? {} : { searchable: false }) };
    await logScope.run({ correlation_id: row.correlation_id }, () =>
      this.client.workflow.signalWithStart(RECURRING_TASK, {
        workflowId: seriesWorkflowId(row.series_id),
        taskQueue: taskQueue(this.options.taskQueuePrefix, 'core'),
        args: [input],
        signal: SERIES_SIGNALS[row.kind],
        signalArgs: [row.occurrence_index],
        // A series that ended may be taken up again; its row says whether there is anything to do.
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
        staticSummary: summaryOf(row),
        staticDetails: detailsOf(row),
        ...(this.options.searchable ? { typedSearchAttributes: attributesOf(row) } : {}),
      }),
    );
  }
}

/** Series that go on, and those among them that should have done so already. `minAge` in seconds. */
const OPEN = /* sql */ `
  select series_id from task_series s
  where ended_at is null and started_at < now() - make_interval(secs => :minAge)
    and not exists (select from outbox o where o.subject = s.series_id::text and o.kind like 'series.%')
  order by started_at`;

const WAKE = /* sql */ `
  insert into outbox (kind, subject, team_id, payload, correlation_id)
  select 'series.changed', series_id::text, team_id, jsonb_build_object('series_id', series_id, 'occurrence_index', last_index), ?::uuid
  from task_series where series_id = any(?) and ended_at is null`;

/**
 * Starts the workflow of every series again that has none: what a lost Temporal file, a terminated or timed-out workflow left
 * behind. One list of what runs is compared with the rows, so ten thousand series cost ten questions. Returns how many.
 */
export async function reconcileSeries({ db, log }: Services, client: Client, minAge: number): Promise<number> {
  const { rows } = await db.raw<{ rows: { series_id: string }[] }>(OPEN, { minAge });
  if (rows.length === 0) return 0;
  const carried = new Set<string>();
  const query = `WorkflowType = '${RECURRING_TASK}' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of client.workflow.list({ query, pageSize: 1_000 })) carried.add(workflowId);
  const lost = rows.map((row) => row.series_id).filter((id) => !carried.has(seriesWorkflowId(id)));
  if (lost.length === 0) return 0;
  await db.raw(WAKE, [uuidv7(), lost]);
  log.warn({ restarted: lost.length }, 'series without a workflow were started again');
  return lost.length;
}
