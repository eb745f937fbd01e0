import { BaseModel } from './base.js';

/** A step that a team names within one of the four statuses. */
export class Stage extends BaseModel {
  static override readonly tableName = 'stages';
  static override readonly idColumn = 'stage_id';

  declare stage_id: string;
  declare team_id: string;
  /** Unique in the team, in any case. */
  declare name: string;
  /** Never changes. */
  declare status: 'todo' | 'in_progress' | 'in_review' | 'done';
  /** Below 0: before the tasks of the status that are in no stage; above: after them. */
  declare position: number;
}
