import type { SavedView } from '../../../db/models/saved-view.js';
import type { SavedViewRecord } from './schema.js';

/** Converts a row to the record that the API returns. */
export const present = (view: SavedView): SavedViewRecord => ({
  view_id: view.view_id,
  name: view.name,
  owner_id: view.owner_id,
  team_id: view.team_id,
  is_shared: view.is_shared,
  is_default: view.is_default,
  entity_type: view.entity_type,
  filters: view.filters,
  sort: view.sort,
  group_by: view.group_by,
  layout: view.layout,
  columns: view.columns,
  created_at: view.created_at.toISOString(),
  updated_at: view.updated_at.toISOString(),
});
