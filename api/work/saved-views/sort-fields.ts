import { listTaskColumns } from '../tasks/columns.js';
import type { ViewEntity } from './rules.js';

/** The order that people make by moving tasks: `position`, where tasks without one stand at the time of their creation. */
export const MANUAL_ORDER = 'manual_order';

/** Fields of the record that each entity sorts by. */
export const SORT_FIELDS: Readonly<Record<ViewEntity, readonly string[]>> = {
  task: [...listTaskColumns('sorted'), MANUAL_ORDER, 'stage'],
  project: ['name', 'status', 'start_date', 'end_date', 'created_at', 'updated_at'],
  work_item: ['title', 'type', 'status', 'created_at', 'updated_at', 'project_id'],
};
