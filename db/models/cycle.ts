import { BaseModel } from './base.js';

/** A period of work of a team, or of one of its projects. Its days are text such as `2026-11-20`, so no time zone can shift them. */
export class Cycle extends BaseModel {
  static override readonly tableName = 'cycles';
  static override readonly idColumn = 'cycle_id';

  declare cycle_id: string;
  declare team_id: string;
  /** Null: the cycle may hold tasks of any project of the team. */
  declare project_id: string | null;
  /** Counts the cycles of the team and project. */
  declare number: number;
  declare name: string;
  declare goal: string | null;
  declare start_date: string | null;
  declare end_date: string | null;
  declare status: 'planned' | 'active' | 'completed';
  declare auto_complete: boolean;
  /** A cycle of the same length follows it. */
  declare repeats: boolean;
  declare created_by: string;
  /** Users who created or started it or changed its dates: the causes of a completion by date. */
  declare cause_user_ids: string[];
  /** Of the last request that changed it. */
  declare correlation_id: string;
  declare created_at: Date;
  declare updated_at: Date;
  declare started_at: Date | null;
  declare completed_at: Date | null;
}
