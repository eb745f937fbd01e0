import { BaseModel } from './base.js';

/** Free fields of a task or a project in the work graph; no row: none. */
export class ItemFieldsRow extends BaseModel {
  static override readonly tableName = 'item_fields';
  static override readonly idColumn = 'item_id';
  static override readonly jsonAttributes = ['fields'];

  declare item_id: string;
  declare fields: Record<string, unknown>;
}
