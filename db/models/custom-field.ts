import { BaseModel } from './base.js';
import type { FieldType } from './rules.js';

/** A choice of a select or multi_select field. */
export interface FieldOption {
  value: string;
  label: string;
  color: string | null;
}

/** A field that a team defines for its tasks or projects. */
export class CustomField extends BaseModel {
  static override readonly tableName = 'custom_fields';
  static override readonly idColumn = 'field_id';
  static override readonly jsonAttributes = ['options'];

  declare field_id: string;
  declare team_id: string;
  declare name: string;
  /** Name in the API; never changes. */
  declare key: string;
  declare field_type: FieldType;
  declare entity_type: 'task' | 'project';
  declare options: FieldOption[];
  declare required: boolean;
  declare position: number;
  declare is_archived: boolean;
  declare created_by: string;
  declare created_at: Date;
  declare updated_at: Date;
}
