import { BaseModel } from './base.js';

export class Team extends BaseModel {
  static override readonly tableName = 'teams';
  static override readonly idColumn = 'team_id';

  declare team_id: string;
  declare name: string;
  declare description: string | null;
  declare plan: 'free' | 'team' | 'scale';
  declare created_by: string;
  declare created_at: Date;
  declare deleted_at: Date | null;
}
