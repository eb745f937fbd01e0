import { ADA, AT, TEAM_ID } from './people.js';
import { WORK } from './work.js';

const VIEW_ID = '019a9f00-0000-7000-8000-000000000091';

/** Example responses about saved views. */
export const SAVED_VIEWS: Record<string, unknown> = {
  SavedView: {
    view_id: VIEW_ID,
    name: 'Urgent work',
    owner_id: ADA,
    team_id: TEAM_ID,
    is_shared: true,
    is_default: false,
    entity_type: 'task',
    filters: {
      status: ['todo', 'in_progress'],
      priority: ['high', 'urgent'],
      due: 'next_7',
      custom_fields: { severity: ['high'] },
    },
    sort: [{ field: 'due_date', direction: 'asc' }],
    group_by: 'status',
    layout: 'board',
    columns: ['title', 'due_date', 'custom_field:severity'],
    created_at: AT,
    updated_at: AT,
  },
  DeletedSavedView: { success: true, view_id: VIEW_ID },
  SavedViewGroup: { key: 'in_progress', count: 7, estimate: 21 },
  TaskResult: { ...(WORK['Task'] as object), custom_fields: { severity: 'high' } },
};
