import { SavedView } from '../../../db/models/saved-view.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { checkWriter } from './check-writer.js';
import { lockOwner } from './lock-owner.js';
import { present } from './present.js';
import { lockOwnView } from './read-view.js';
import { recordViewChange } from './record-view-change.js';
import type { SavedViewRecord } from './schema.js';

/**
 * Makes a view of the caller their default for its entity, in place of another.
 * @throws RESOURCE_NOT_FOUND no such view, or not visible | PERMISSION_DENIED another person's view, or a guest
 */
export function setDefault(ctx: Context, viewId: string): Promise<SavedViewRecord> {
  const owner_id = requireUser(ctx);
  return inTransaction(ctx, async (ctx) => {
    // Two of a person's views that become default at once do so one after the other.
    await lockOwner(ctx);
    const view = await lockOwnView(ctx, viewId);
    if (view.team_id !== null) await checkWriter(ctx, view.team_id, view.is_shared);
    if (view.is_default) return present(view);
    const { entity_type } = view;
    await SavedView.query(ctx.db).where({ owner_id, entity_type, is_default: true }).patch({ is_default: false });
    await view.$query(ctx.db).patch({ is_default: true });
    await recordViewChange(ctx, view, 'update', { fields: ['is_default'] });
    return present((await SavedView.query(ctx.db).findById(viewId)) as SavedView);
  });
}
