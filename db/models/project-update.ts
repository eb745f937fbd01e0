import { BaseModel } from './base.js';

/** What a member says of a project, with its health. */
export class ProjectUpdate extends BaseModel {
  static override readonly tableName = 'project_updates';
  static override readonly idColumn = 'update_id';

  declare update_id: string;
  declare project_id: string;
  declare team_id: string;
  declare health: 'on_track' | 'at_risk' | 'off_track';
  declare content: string;
  declare author_id: string;
  declare created_at: Date;
  declare updated_at: Date;
  declare edited: boolean;
}
