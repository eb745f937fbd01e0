import { SavedView } from '../../../db/models/saved-view.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { invalid } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { checkView } from './check-view.js';
import { checkWriter } from './check-writer.js';
import { lockOwner } from './lock-owner.js';
import { present } from './present.js';
import { recordViewChange } from './record-view-change.js';
import { MAX_VIEWS_PER_USER } from './rules.js';
import type { CreateSavedView, SavedViewRecord } from './schema.js';

/**
 * Saves a view of the caller.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED a guest, or not a member | INVALID_REQUEST shared without a team, or 200 views
 * already | VALIDATION_ERROR filters, sort or group_by that the entity does not have
 */
export function createView(ctx: Context, input: CreateSavedView): Promise<SavedViewRecord> {
  const { name, entity_type, layout, columns } = input;
  const definition = {
    entity_type,
    filters: input.filters ?? {},
    sort: input.sort ?? [],
    group_by: input.group_by ?? null,
  };
  const team_id = input.team_id ?? null;
  const is_shared = input.is_shared ?? false;
  const owner_id = requireUser(ctx);
  return inTransaction(ctx, async (ctx) => {
    // Creations of one user happen one after the other, so the limit holds.
    await lockOwner(ctx);
    await checkWriter(ctx, team_id, is_shared);
    checkView(definition);
    if ((await SavedView.query(ctx.db).where({ owner_id }).resultSize()) >= MAX_VIEWS_PER_USER) {
      throw invalid(`A person has at most ${MAX_VIEWS_PER_USER} saved views; delete one first`);
    }
    const view = await SavedView.query(ctx.db).insertAndFetch({
      view_id: newId(),
      owner_id,
      team_id,
      name,
      is_shared,
      ...definition,
      layout: layout ?? 'list',
      columns: columns ?? [],
    });
    await recordViewChange(ctx, view, 'create');
    return present(view);
  });
}
