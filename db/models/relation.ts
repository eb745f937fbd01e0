import { BaseModel } from './base.js';

/** A stored edge of the work graph, as given and in its canonical form. */
export class Relation extends BaseModel {
  static override readonly tableName = 'relations';
  static override readonly idColumn = 'relation_id';

  declare relation_id: string;
  declare relation_type: string;
  declare source_id: string;
  declare target_id: string;
  declare kind: string;
  declare from_id: string;
  declare to_id: string;
  declare from_team_id: string;
  declare to_team_id: string;
  declare team_id: string;
  declare created_by: string;
  declare created_at: Date;
}
