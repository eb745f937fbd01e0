import { BaseModel } from './base.js';
import type { Role } from './rules.js';

export class Team extends BaseModel {
  static override readonly tableName = 'teams';
  static override readonly idColumn = 'team_id';

  declare team_id: string;
  /** What the numbers of its tasks follow: HAR in HAR-12. */
  declare key: string;
  declare name: string;
  declare description: string | null;
  /** Only signed-in people decide its gates and plans, no token. */
  declare decisions_signed_in: boolean;
  declare plan: 'free' | 'team' | 'scale';
  declare created_by: string;
  declare created_at: Date;
  declare deleted_at: Date | null;
  /** Project with which the team was filled as an example. */
  declare example_project_id: string | null;
}

/** An invitation to a team: of an address, or of a user by id. */
export class Invitation extends BaseModel {
  static override readonly tableName = 'invitations';
  static override readonly idColumn = 'invitation_id';

  declare invitation_id: string;
  declare team_id: string;
  declare email: string | null;
  declare user_id: string | null;
  declare role: Role;
  declare invited_by: string;
  declare created_at: Date;
  declare expires_at: Date;
  declare accepted_at: Date | null;
  declare revoked_at: Date | null;
}

/** A conversation of a team, created with it. */
export class Conversation extends BaseModel {
  static override readonly tableName = 'conversations';
  static override readonly idColumn = 'conversation_id';

  declare conversation_id: string;
  declare team_id: string;
  declare title: string;
  declare is_default: boolean;
  declare created_at: Date;
}
