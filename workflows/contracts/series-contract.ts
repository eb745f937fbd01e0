/** Names and shapes of a recurring series. */
import type { Searchable } from './searchable.js';

/** Rows of the outbox, by kind. */
declare module '../../api/platform/outbox/outbox.js' {
  interface OutboxPayloads {
    /** Signal or start the series' workflow. Written by database triggers. */
    'series.completed': { series_id: string; occurrence_index: number };
    'series.changed': { series_id: string; occurrence_index: number };
    'series.ended': { series_id: string; occurrence_index: number };
  }
}

/** Workflow type of a recurring series: one workflow for all its occurrences. */
export const RECURRING_TASK = 'recurringTask';
export const seriesWorkflowId = (seriesId: string): string => `series:${seriesId}`;
/** Signals of a series by kind of outbox row; the rows decide what there is to do. */
export const SERIES_SIGNALS = {
  'series.completed': 'completed',
  'series.changed': 'ruleChanged',
  'series.ended': 'end',
} as const;
export interface RecurringTaskInput extends Searchable {
  seriesId: string;
  /** Rounds before the workflow continues as new; fewer in tests. */
  rounds?: number;
}

/** State of a series after everything due was done. Ids, numbers and dates only. */
export interface SeriesView {
  /** `resting`: its newest occurrence is in the trash. `blocked`: no user may write in its name. */
  state: 'waiting' | 'resting' | 'blocked' | 'ended';
  /** Whether an occurrence was just created; more may be due. */
  made: boolean;
  rule: string;
  mode: 'on_complete' | 'on_schedule';
  timezone: string;
  index: number;
  taskId: string | null;
  dueDate: string | null;
  /**
   * When the next occurrence is created by schedule, and the milliseconds until then by the database's clock; null if none is.
   */
  nextAt: string | null;
  msLeft: number | null;
  /** Why it ended or is blocked. */
  reason: string | null;
}
export interface SeriesActivities {
  /** Creates the next occurrence if it is due; returns null if the series does not exist. */
  advanceSeries(seriesId: string): Promise<SeriesView | null>;
}
