import { parseCustomKey } from '../../work/custom-fields/rules.js';

/** What a saved view sorts by, as its form and its description say. */
const SORT_NAMES: Readonly<Record<string, string>> = {
  assigned_to: 'assignee',
  completed_at: 'time of completion',
  created_at: 'time of creation',
  cycle_id: 'cycle',
  due_date: 'due date',
  end_date: 'last day',
  manual_order: 'manual order',
  position: 'position',
  project_id: 'project',
  stage_id: 'stage',
  start_date: 'first day',
  team_id: 'team',
  updated_at: 'last change',
};

/** Names a field of a record, or the key of a custom field, in a sentence. */
export const nameSortField = (field: string): string =>
  SORT_NAMES[field] ?? (parseCustomKey(field) ?? field).replaceAll('_', ' ');

/** How people say an order: upwards, and downwards. */
const ORDERS: Readonly<Record<string, readonly [asc: string, desc: string]>> = {
  created_at: ['oldest first', 'newest first'],
  due_date: ['by due date', 'by due date, latest first'],
  estimate: ['smallest estimate first', 'largest estimate first'],
  estimated_hours: ['fewest hours first', 'most hours first'],
  manual_order: ['in manual order', 'in manual order, from its end'],
  name: ['by name', 'by name, from Z to A'],
  priority: ['least urgent first', 'most urgent first'],
  title: ['by title', 'by title, from Z to A'],
  updated_at: ['longest unchanged first', 'last changed first'],
};

/** Says the first order of a view: `newest first`, `by assignee`. */
export function wordOrder({ field, direction }: { field: string; direction: 'asc' | 'desc' }): string {
  const [asc, desc] = ORDERS[field] ?? [`by ${nameSortField(field)}`, `by ${nameSortField(field)}, from the end`];
  return direction === 'asc' ? asc : desc;
}
