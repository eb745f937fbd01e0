import { BaseModel } from './base.js';

/** A project, live or in the trash. Its days are text such as `2026-11-20`, so no time zone can shift them. */
export class Project extends BaseModel {
  static override readonly tableName = 'projects';
  static override readonly idColumn = 'project_id';

  declare project_id: string;
  declare team_id: string;
  declare name: string;
  declare description: string | null;
  declare status: 'active' | 'archived' | 'completed';
  declare start_date: string | null;
  declare end_date: string | null;
  declare lead_id: string | null;
  /** That of the newest update; null without one. */
  declare health: 'on_track' | 'at_risk' | 'off_track' | null;
  declare health_at: Date | null;
  declare created_by: string;
  declare created_at: Date;
  declare updated_at: Date;
  declare version: number;
  declare deleted_at: Date | null;
  declare deleted_by: string | null;
  /** Shared by all rows that one deletion moved to the trash. */
  declare cascade_id: string | null;
}
