import { BaseModel } from './base.js';

export class Team extends BaseModel {
  static override readonly tableName = 'teams';
  static override readonly idColumn = 'team_id';

  declare team_id: string;
  declare name: string;
  declare description: string | null;
  /** Only signed-in people decide its gates and plans, no token. */
  declare decisions_signed_in: boolean;
  declare plan: 'free' | 'team' | 'scale';
  declare created_by: string;
  declare created_at: Date;
  declare deleted_at: Date | null;
}
