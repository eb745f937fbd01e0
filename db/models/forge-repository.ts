import { BaseModel } from './base.js';

/** A repository whose events reach a team, or one of its projects. */
export class ForgeRepository extends BaseModel {
  static override readonly tableName = 'forge_repositories';
  static override readonly idColumn = 'binding_id';

  declare binding_id: string;
  /** In lower case. */
  declare repo: string;
  declare team_id: string;
  declare project_id: string | null;
  /** Issues create and update tasks of the project. */
  declare sync_issues: boolean;
  declare created_by: string;
  declare created_at: Date;
}
