import { BaseModel } from './base.js';
import type { Role } from './rules.js';

/** A user's role in a team. Deleted when the user leaves: memberships have no trash. */
export class Membership extends BaseModel {
  static override readonly tableName = 'memberships';
  static override readonly idColumn = ['team_id', 'user_id'];

  declare team_id: string;
  declare user_id: string;
  declare role: Role;
  declare joined_at: Date;
}
