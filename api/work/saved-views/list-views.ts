import { SavedView } from '../../../db/models/saved-view.js';
import type { Context } from '../../platform/context.js';
import { present } from './present.js';
import { onlyVisible } from './read-view.js';
import type { ListSavedViews, SavedViewRecord } from './schema.js';

/** Lists the caller's views and those shared with them, oldest first. Another team's list is empty. */
export async function listViews(
  ctx: Context,
  { team_id, entity_type, limit, offset }: ListSavedViews,
): Promise<SavedViewRecord[]> {
  const views = await onlyVisible(ctx, SavedView.query(ctx.db))
    .where({ ...(team_id && { team_id }), ...(entity_type && { entity_type }) })
    .orderBy(['created_at', 'view_id'])
    .limit(limit)
    .offset(offset);
  return views.map(present);
}
