import { z } from 'zod';
import type { User } from '../../../identity/auth/schema.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import { SavedViewParams, type SavedViewRecord, VIEWER } from '../../../work/saved-views/schema.js';
import { TASK_STATUSES } from '../../../work/tasks/rules.js';

/** Teams whose open tasks are offered. */
const MAX_TEAMS = 20;
const READY_ID = /^(?:mine|open-[0-9a-f-]{36})$/;

/** The id of a saved view, or of one that is ready made. */
export const ShownViewParams = z.object({
  view_id: z.union([z.string().regex(READY_ID), SavedViewParams.shape.view_id]),
});

const READY: Omit<SavedViewRecord, 'view_id' | 'name' | 'team_id' | 'filters'> = {
  owner_id: '',
  is_shared: false,
  is_default: false,
  entity_type: 'task',
  sort: [{ field: 'due_date', direction: 'asc' }],
  group_by: null,
  layout: 'list',
  columns: [],
  created_at: new Date(0).toISOString(),
  updated_at: new Date(0).toISOString(),
};

/** Returns the views that everyone has: they are computed, so nobody owns, changes or deletes them. */
export function listReadyViews({ teams }: User): SavedViewRecord[] {
  const status = TASK_STATUSES.filter((one) => one !== 'done');
  const readable = teams.filter(({ role }) => isAllowed('task.read', role as Seat)).slice(0, MAX_TEAMS);
  return [
    { ...READY, view_id: 'mine', name: 'My tasks', team_id: null, filters: { status, assigned_to: [VIEWER] } },
    ...readable.map(({ team_id, name }) => ({
      ...READY,
      view_id: `open-${team_id}`,
      name: `All open tasks of ${name}`,
      team_id,
      filters: { status },
    })),
  ];
}
