import type { CustomField } from '../../../db/models/custom-field.js';
import type { Context } from '../../platform/context.js';
import { recordChange } from '../../platform/changes/record-change.js';

const SUMMARIES = { create: 'created the custom field', update: 'updated the custom field', delete: 'deleted the custom field' };

/** Writes the audit entry and the activity line of a change of a definition. */
export async function recordFieldChange(
  ctx: Context,
  { team_id, field_id, name, key }: Pick<CustomField, 'team_id' | 'field_id' | 'name' | 'key'>,
  action: keyof typeof SUMMARIES,
  details: Record<string, unknown>,
): Promise<void> {
  await recordChange(ctx, {
    team_id,
    feature: 'custom_fields',
    action,
    severity: 'MEDIUM',
    entity_type: 'custom_field',
    entity_id: field_id,
    title: name,
    summary: SUMMARIES[action],
    details: { name, key, ...details },
  });
}
