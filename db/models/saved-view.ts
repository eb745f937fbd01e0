import { BaseModel } from './base.js';

/** A view over tasks, projects or work items that a user saved. */
export class SavedView extends BaseModel {
  static override readonly tableName = 'saved_views';
  static override readonly idColumn = 'view_id';
  static override readonly jsonAttributes = ['filters', 'sort'];

  declare view_id: string;
  declare owner_id: string;
  /** Results are those of this team alone; null for all teams of the viewer. */
  declare team_id: string | null;
  declare name: string;
  /** Whether the members of the team see it too. */
  declare is_shared: boolean;
  declare is_default: boolean;
  declare entity_type: 'task' | 'project' | 'work_item';
  declare filters: Record<string, unknown>;
  declare sort: { field: string; direction: 'asc' | 'desc' }[];
  declare group_by: string | null;
  declare layout: 'list' | 'board';
  declare columns: string[];
  declare created_at: Date;
  declare updated_at: Date;
}
