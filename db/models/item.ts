import { BaseModel } from './base.js';

/** A note, file, whiteboard or doc, live or in the trash. */
export class Item extends BaseModel {
  static override readonly tableName = 'items';
  static override readonly idColumn = 'item_id';
  static override readonly jsonAttributes = ['fields'];

  declare item_id: string;
  declare item_type: 'note' | 'file' | 'whiteboard' | 'doc';
  declare team_id: string;
  declare project_id: string | null;
  declare title: string;
  declare description: string | null;
  /** Text of a note or a doc. */
  declare content: string | null;
  /** Kind of a note; null for other types. */
  declare kind: 'note' | 'idea' | null;
  declare status: 'active' | 'archived';
  declare fields: Record<string, unknown>;
  declare created_by: string;
  declare created_at: Date;
  declare updated_at: Date;
  declare version: number;
  declare deleted_at: Date | null;
  declare deleted_by: string | null;
  /** Shared by all rows that one deletion moved to the trash. */
  declare cascade_id: string | null;
}
