import { SavedView } from '../../../db/models/saved-view.js';
import { defineStatement, run } from '../../../db/statement.js';
import { rolesFor } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { forbidden, notFound } from '../../platform/errors.js';

/**
 * SQL: whether user $1 may see the view v: their own, and shared ones of teams in which they have a role of $2. A view of a team is nobody's who has
 * left the team, also not its owner's.
 */
export const IS_VISIBLE = /* sql */ `(v.owner_id = $1 or v.is_shared)
      and (v.team_id is null or exists (select from memberships m where m.team_id = v.team_id and m.user_id = $1 and m.role = any($2::text[])))`;

/** Returns $1 and $2 of `IS_VISIBLE`. */
export const viewerValues = (ctx: Context): unknown[] => [requireUser(ctx), rolesFor('saved_view.team')];

/** $3 = view id. */
const statement = defineStatement({
  name: 'read_saved_view',
  text: `select v.* from saved_views v where v.view_id = $3 and ${IS_VISIBLE}`,
});

/**
 * Returns a view that the caller may see.
 * @throws RESOURCE_NOT_FOUND no such view, or another person's that is not shared with the caller
 */
export async function readView(ctx: Context, viewId: string): Promise<SavedView> {
  const [row] = await run(ctx.db, statement, [...viewerValues(ctx), viewId]);
  if (!row) throw notFound('Saved view');
  return SavedView.fromDatabaseJson(row);
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
