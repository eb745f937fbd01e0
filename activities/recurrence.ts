import type { Services } from '../api/platform/context.js';
import { ruleInWords } from '../api/work/tasks/recurrence/describe-rule.js';
import type { Recurrence } from '../api/work/tasks/recurrence/rules.js';
import { advanceSeries } from '../api/work/tasks/recurrence/series/advance-series.js';
import {
  openSeriesStatement,
  restartSeriesStatement,
  seriesDispatchesStatement,
} from '../api/work/tasks/recurrence/series/open-series.sql.js';
import {
  RECURRING_TASK,
  type RecurringTaskInput,
  SERIES_SIGNALS,
  type SeriesActivities,
  seriesWorkflowId,
} from '../workflows/contracts/series-contract.js';
import { SEARCH_ATTRIBUTES as ATTRIBUTE } from '../workflows/search-attributes.js';
import { defineRowWorkflow } from './row-workflow.js';

/** An outbox row that wakes a series, with the fields that operators see. */
interface Row {
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

interface OpenSeries {
  series_id: string;
  last_task_id: string | null;
  next_at: Date | null;
  /** The newest occurrence is done and has no successor yet. */
  is_due: boolean;
}

/** Recurring series: one workflow for all occurrences. */
export const series = defineRowWorkflow<Row, OpenSeries>({
  notes: [
    {
      process: 'recurring_task',
      workflowId: 'series:<series_id>',
      shows: 'Recurring tasks; `EntityId` is the newest occurrence, `NextAttemptAt` the next date',
    },
  ],
  invariants: [
    {
      name: 'series_carried',
      words: 'No series that has not ended has been without an open workflow for more than 60 s',
      sql: /* sql */ `
        select series_id::text as violation from task_series
        where ended_at is null and started_at < clock_timestamp() - interval '60 seconds' order by series_id`,
      buildWorkflowId: seriesWorkflowId,
    },
  ],
  activities: { core: (services: Services): SeriesActivities => ({ advanceSeries: (id) => advanceSeries(services, id) }) },
  plural: 'series',
  kinds: ['series.completed', 'series.changed', 'series.ended'],
  dispatches: seriesDispatchesStatement,
  workflow: RECURRING_TASK,
  getId: ({ series_id }) => seriesWorkflowId(series_id),
  input: ({ series_id }): RecurringTaskInput => ({ seriesId: series_id }),
  attributes: (row) => ({
    RunState: 'waiting',
    TeamId: row.team_id,
    ActorId: row.created_by,
    ProjectId: row.project_id,
    EntityId: row.last_task_id,
  }),
  /** At most 200 bytes: the rule, never the task's title. */
  summary(row) {
    const words = ruleInWords(row);
    return `${words.length <= 140 ? words : `${words.slice(0, 137)}…`} (${row.timezone})`;
  },
  details: ({ series_id, team_id, correlation_id }) =>
    [
      `Series \`${series_id}\` of team \`${team_id}\``,
      `Correlation id of the start \`${correlation_id}\` (in the logs and the audit log)`,
    ].join('\n\n'),
  deliver: ({ kind, occurrence_index }) => ({ start: true, signal: SERIES_SIGNALS[kind], args: [occurrence_index] }),
  wake: { signal: SERIES_SIGNALS['series.changed'], args: [null] },
  key: 'series_id',
  open: openSeriesStatement,
  isBehind: ({ last_task_id, next_at, is_due }, { attributes }) =>
    is_due ||
    (attributes.get(ATTRIBUTE.EntityId) ?? null) !== last_task_id ||
    attributes.get(ATTRIBUTE.NextAttemptAt)?.getTime() !== next_at?.getTime(),
  restart: restartSeriesStatement,
});
