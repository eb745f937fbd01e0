import type { SavedView } from '../../../db/models/saved-view.js';
import type { Context } from '../../platform/context.js';
import { recordChange } from '../../platform/changes/record-change.js';

const SUMMARIES = { create: 'shared the view', update: 'updated the shared view', delete: 'deleted the shared view' };

/**
 * Writes the audit entry of a change. A shared view is the team's business, with a line of activity; a private one is not, so its entry
 * names neither the team nor the view. `wasShared`: members saw it before the change.
 */
export async function recordViewChange(
  ctx: Context,
  { view_id, team_id, name, is_shared, entity_type }: SavedView,
  action: keyof typeof SUMMARIES,
  details: Record<string, unknown> = {},
  wasShared = is_shared,
): Promise<void> {
  const isPublic = is_shared || wasShared;
  await recordChange(ctx, {
    team_id: isPublic ? team_id : null,
    feature: 'saved_views',
    action,
    entity_type: 'saved_view',
    entity_id: view_id,
    ...(isPublic && { title: name, summary: SUMMARIES[action] }),
    details: { entity_type, is_shared, ...(isPublic && { name }), ...details },
  });
}
