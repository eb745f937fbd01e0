import { BaseModel } from './base.js';

/** A comment on a task, or a reply. A deleted one keeps its row, without text, while it has replies. */
export class Comment extends BaseModel {
  static override readonly tableName = 'comments';
  static override readonly idColumn = 'comment_id';

  declare comment_id: string;
  declare task_id: string;
  declare team_id: string;
  declare parent_comment_id: string | null;
  declare content: string;
  declare author_id: string;
  declare mentions: string[];
  declare created_at: Date;
  declare updated_at: Date;
  declare edited: boolean;
  declare deleted_at: Date | null;
}
