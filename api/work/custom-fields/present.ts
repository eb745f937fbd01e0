import type { CustomField } from '../../../db/models/custom-field.js';
import type { CustomFieldRecord } from './schema.js';

/** Converts a row to the record that the API returns. */
export const present = (field: CustomField): CustomFieldRecord => ({
  field_id: field.field_id,
  team_id: field.team_id,
  name: field.name,
  key: field.key,
  field_type: field.field_type,
  entity_type: field.entity_type,
  options: field.options.map(({ value, label, color }) => ({ value, label, color })),
  required: field.required,
  position: field.position,
  is_archived: field.is_archived,
  created_at: field.created_at.toISOString(),
});
