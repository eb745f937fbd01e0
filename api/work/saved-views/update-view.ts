import { fn } from 'objection';
import { SavedView } from '../../../db/models/saved-view.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { conflict, invalid } from '../../platform/errors.js';
import { checkView } from './check-view.js';
import { checkWriter } from './check-writer.js';
import { present } from './present.js';
import { lockOwnView } from './read-view.js';
import { recordViewChange } from './record-view-change.js';
import { type SavedViewRecord, type UpdateSavedView, ViewFilters } from './schema.js';

const CHANGEABLE = ['name', 'team_id', 'is_shared', 'filters', 'sort', 'group_by', 'layout', 'columns'] as const;
type Changes = Partial<Pick<SavedView, (typeof CHANGEABLE)[number]>>;

const listChanges = (view: SavedView, input: UpdateSavedView): Changes =>
  Object.fromEntries(
    CHANGEABLE.filter((name) => input[name] !== undefined && JSON.stringify(input[name]) !== JSON.stringify(view[name])).map(
      (name) => [name, input[name]],
    ),
  );

/**
 * Changes a view of the caller. `seen`: the `updated_at` that the caller has read; without it, any.
 * @throws RESOURCE_NOT_FOUND no such view, or not visible | PERMISSION_DENIED another person's view, or a guest | INVALID_REQUEST another
 * entity, or shared without a team | VALIDATION_ERROR filters, sort or group_by that the entity does not have | RESOURCE_CONFLICT changed since
 * `seen`
 */
export function updateView(ctx: Context, viewId: string, input: UpdateSavedView, seen?: string): Promise<SavedViewRecord> {
  return inTransaction(ctx, async (ctx) => {
    const view = await lockOwnView(ctx, viewId);
    if (seen !== undefined && view.updated_at.toISOString() !== seen) throw conflict('The view has changed since you opened it');
    if (input.entity_type !== undefined && input.entity_type !== view.entity_type) throw invalid('entity_type cannot change');
    const changes = listChanges(view, input);
    const teamId = changes.team_id === undefined ? view.team_id : changes.team_id;
    const isShared = changes.is_shared ?? view.is_shared;
    // What is private and of no team is the caller's own, whatever their roles.
    if (teamId !== null || isShared) await checkWriter(ctx, teamId, isShared);
    checkView({
      entity_type: view.entity_type,
      filters: input.filters ?? ViewFilters.parse(view.filters),
      sort: changes.sort ?? view.sort,
      group_by: changes.group_by === undefined ? view.group_by : changes.group_by,
    });
    if (Object.keys(changes).length === 0) return present(view);
    const before = view.$clone();
    await view.$query(ctx.db).patch({ ...changes, updated_at: fn.now() });
    const updated = (await SavedView.query(ctx.db).findById(viewId)) as SavedView;
    const fields = Object.keys(changes);
    const leavesTeam = before.team_id !== updated.team_id;
    // The team that loses it learns so in its own audit log.
    if (leavesTeam && before.is_shared) await recordViewChange(ctx, before, 'update', { fields });
    await recordViewChange(ctx, updated, 'update', { fields }, before.is_shared && !leavesTeam);
    return present(updated);
  });
}
