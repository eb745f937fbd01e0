import { parseCustomKey } from '../../work/saved-views/rules.js';

/** What a saved view sorts by, as its form and its description say. */
const SORT_NAMES: Readonly<Record<string, string>> = {
  assigned_to: 'assignee',
  completed_at: 'time of completion',
  created_at: 'time of creation',
  cycle_id: 'cycle',
  due_date: 'due date',
  end_date: 'last day',
  estimated_hours: 'estimate',
  manual_order: 'manual order',
  position: 'position',
  project_id: 'project',
  start_date: 'first day',
  team_id: 'team',
  updated_at: 'last change',
};

/** Names a field of a record, or the key of a custom field, in a sentence. */
export const nameSortField = (field: string): string =>
  SORT_NAMES[field] ?? (parseCustomKey(field) ?? field).replaceAll('_', ' ');
