import { SavedView } from '../../../db/models/saved-view.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { checkWriter } from './check-writer.js';
import { lockOwnView } from './read-view.js';
import { recordViewChange } from './record-view-change.js';

/**
 * Deletes a view of the caller permanently.
 * @throws RESOURCE_NOT_FOUND no such view, or not visible | PERMISSION_DENIED another person's view, or a guest
 */
export function deleteView(ctx: Context, viewId: string): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    const view = await lockOwnView(ctx, viewId);
    if (view.team_id !== null) await checkWriter(ctx, view.team_id, view.is_shared);
    await view.$query(ctx.db).delete();
    await recordViewChange(ctx, view, 'delete');
  });
}

/** Deletes all views of a team, in the transaction that deletes the team. Returns their number. */
export const deleteViewsOfTeam = async (ctx: Context, teamId: string): Promise<number> =>
  SavedView.query(ctx.db).where({ team_id: teamId }).delete();

/**
 * Deletes what a person saved in a team, shared or not, in the transaction that ends the membership: only an owner may change a view, so
 * nobody could. Returns the number of views.
 */
export const deleteViewsOfMember = async (ctx: Context, teamId: string, userId: string): Promise<number> =>
  SavedView.query(ctx.db).where({ team_id: teamId, owner_id: userId }).delete();

/** Deletes the views that a person saved for no team, in the transaction that deprovisions the user. Returns their number. */
export const deleteViewsOfPerson = async (ctx: Context, userId: string): Promise<number> =>
  SavedView.query(ctx.db).where({ owner_id: userId, team_id: null }).delete();
