import type { QueryBuilder } from 'objection';
import { Membership } from '../../../db/models/membership.js';
import { SavedView } from '../../../db/models/saved-view.js';
import { rolesFor } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { forbidden, notFound } from '../../platform/errors.js';

/**
 * Limits a query to views that the caller may see: their own, and shared ones of their teams. A view of a team is nobody's who has left
 * the team, also not its owner's.
 */
export function onlyVisible<Result>(ctx: Context, query: QueryBuilder<SavedView, Result>): QueryBuilder<SavedView, Result> {
  const userId = requireUser(ctx);
  const teams = () =>
    Membership.query(ctx.db).select('team_id').where({ user_id: userId }).whereIn('role', rolesFor('saved_view.team'));
  return query.where((all) => {
    void all
      .where(
        (own) =>
          void own.where({ owner_id: userId }).where((place) => void place.whereNull('team_id').orWhereIn('team_id', teams())),
      )
      .orWhere((shared) => void shared.where({ is_shared: true }).whereIn('team_id', teams()));
  });
}

/**
 * Returns a view that the caller may see.
 * @throws RESOURCE_NOT_FOUND no such view, or another person's that is not shared with the caller
 */
export async function readView(ctx: Context, viewId: string): Promise<SavedView> {
  const view = await onlyVisible(ctx, SavedView.query(ctx.db).findById(viewId));
  if (!view) throw notFound('Saved view');
  return view;
}

/**
 * Returns a view of the caller, locked until the commit.
 * @throws RESOURCE_NOT_FOUND as `readView` | PERMISSION_DENIED another person's view
 */
export async function lockOwnView(ctx: Context, viewId: string): Promise<SavedView> {
  const { owner_id } = await readView(ctx, viewId);
  if (owner_id !== requireUser(ctx)) throw forbidden('Only the owner of a view can change it');
  const view = await SavedView.query(ctx.db).findById(viewId).forUpdate();
  if (!view) throw notFound('Saved view');
  return view;
}
