import { BaseModel } from './base.js';

/** A recurring task: its rule, and how far its occurrences have come. Ended ones stay. */
export class TaskSeries extends BaseModel {
  static override readonly tableName = 'task_series';
  static override readonly idColumn = 'series_id';

  declare series_id: string;
  declare team_id: string;
  declare created_by: string;
  /** Start of the rule, as a due date; null until there is one. */
  declare anchor: string | null;
  /** The newest occurrence. */
  declare last_index: number;
  declare last_task_id: string | null;
  /** Time of the next occurrence; null if it waits for something else. */
  declare next_at: Date | null;
  declare blocked_reason: string | null;
  declare ended_at: Date | null;
  declare end_reason: 'cancelled' | 'count' | 'until' | 'no_date' | 'purged' | null;
}
