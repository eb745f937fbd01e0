import { ADA, AT, TEAM_ID } from './people.js';

const FIELD_ID = '019a9f00-0000-7000-8000-000000000081';

const value = {
  value_id: '019a9f00-0000-7000-8000-000000000083',
  field_id: FIELD_ID,
  key: 'severity',
  entity_type: 'task',
  entity_id: '019a9f00-0000-7000-8000-000000000082',
  value: 'high',
  updated_by: ADA,
  updated_at: AT,
};

/** Example responses about custom fields. */
export const CUSTOM_FIELDS: Record<string, unknown> = {
  CustomField: {
    field_id: FIELD_ID,
    team_id: TEAM_ID,
    name: 'Severity',
    key: 'severity',
    field_type: 'select',
    entity_type: 'task',
    options: [
      { value: 'high', label: 'High', color: '#cc3333' },
      { value: 'low', label: 'low', color: null },
    ],
    required: false,
    position: 0,
    is_archived: false,
    created_at: AT,
  },
  DeletedCustomField: { success: true, field_id: FIELD_ID, deleted_values: 12 },
  CustomFieldValue: value,
};
