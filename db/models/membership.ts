import { BaseModel } from './base.js';

/** A person's seat in a team. Gone with the person's leaving: there is no trash for seats. */
export class Membership extends BaseModel {
  static override readonly tableName = 'memberships';
  static override readonly idColumn = ['team_id', 'user_id'];

  declare team_id: string;
  declare user_id: string;
  declare role: 'guest' | 'member' | 'manager' | 'admin';
  declare joined_at: Date;
}
