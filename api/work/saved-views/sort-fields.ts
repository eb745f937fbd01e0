import { listTaskColumns } from '../tasks/columns.js';
import type { ViewEntity } from './rules.js';

/** Fields of the record that each entity sorts by. */
export const SORT_FIELDS: Readonly<Record<ViewEntity, readonly string[]>> = {
  task: listTaskColumns('sorted'),
  project: ['name', 'status', 'start_date', 'end_date', 'created_at', 'updated_at'],
  work_item: ['title', 'type', 'status', 'created_at', 'updated_at', 'project_id'],
};
