import { z } from 'zod';
import type { User } from '../../../identity/auth/schema.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import type { ViewEntity } from '../../../work/saved-views/rules.js';
import { SavedViewParams, type SavedViewRecord, VIEWER } from '../../../work/saved-views/schema.js';
import { OPEN_STATUSES } from '../filters/filters.js';

/** Teams whose open tasks are offered. */
const MAX_TEAMS = 20;
const READY_ID = /^(?:mine|new|new-projects|new-items|(?:open|triage)-[0-9a-f-]{36})$/;

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
  const status = [...OPEN_STATUSES];
  const readable = teams.filter(({ role }) => isAllowed('task.read', role as Seat)).slice(0, MAX_TEAMS);
  return [
    { ...READY, view_id: 'mine', name: 'My tasks', team_id: null, filters: { status, assigned_to: [VIEWER] } },
    ...readable.flatMap(({ team_id, name }) => [
      { ...READY, view_id: `open-${team_id}`, name: `All open tasks of ${name}`, team_id, filters: { status } },
      {
        ...READY,
        view_id: `triage-${team_id}`,
        name: `Tasks of ${name} without a priority`,
        team_id,
        filters: { status, priority: ['none'] },
        sort: [{ field: 'created_at', direction: 'asc' as const }],
      },
    ]),
  ];
}

const NEW: Readonly<Record<string, ViewEntity>> = { new: 'task', 'new-projects': 'project', 'new-items': 'work_item' };

/** Views that are still to be saved, one for each entity. */
export const NEW_VIEWS: readonly SavedViewRecord[] = Object.entries(NEW).map(([view_id, entity_type]) => ({
  ...READY,
  view_id,
  entity_type,
  name: 'New view',
  team_id: null,
  filters: entity_type === 'task' ? { status: [...OPEN_STATUSES] } : {},
  sort: [],
}));

/** Returns whether a view is still to be saved. */
export const isNew = (viewId: string): boolean => viewId in NEW;
