import { fn } from 'objection';
import { Item } from '../../../db/models/item.js';
import { authorize } from '../../platform/access/access.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { invalid, notFound } from '../../platform/errors.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { findSeat } from '../../platform/access/seats.js';
import { staleVersion } from '../tasks/write/stale-version.js';
import { checkTargetProject, lockTargetProject } from './lock-place.js';
import { getFeature, type ItemFields, itemChanges, getName, type StoredType } from './rules.js';

/** Which item changes, and what the request says beside its fields. */
export interface ItemTarget {
  itemId: string;
  /** The type that the caller expects; an item of another type is not found. */
  type: StoredType;
  /** Version that the caller has read; null accepts any. */
  version: number | null;
  /** The item's team; another one is rejected. */
  teamId?: string | null | undefined;
  /** The project to which the item moves; null moves it out of its project, undefined leaves it there. */
  projectId: string | null | undefined;
}

/** @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED | RESOURCE_CONFLICT | INVALID_REQUEST another team */
async function lockItem(ctx: Context, target: ItemTarget): Promise<Item> {
  const { itemId, type, version: expected, teamId } = target;
  const item = await Item.query(ctx.db).findById(itemId).where({ item_type: type }).modify('live').forNoKeyUpdate();
  if (!item) throw notFound(getName(type));
  authorize('item.write', await findSeat(ctx, item.team_id));
  if (expected !== null && expected !== item.version) {
    throw await staleVersion(ctx, { type, id: itemId, expected, version: item.version });
  }
  if (teamId != null && teamId !== item.team_id) throw invalid(`The team of a ${type} cannot change`);
  return item;
}

/**
 * Applies `next` to the stored fields and increments the version; a change without effect writes nothing. Returns the item after the
 * change.
 * @throws RESOURCE_NOT_FOUND no live item or project | PERMISSION_DENIED non-member or guest | RESOURCE_CONFLICT stale version
 * | INVALID_REQUEST another team, or a project of another team
 */
export function changeItem(
  ctx: Context,
  target: ItemTarget,
  next: (before: ItemFields) => Omit<ItemFields, 'project_id'>,
): Promise<Item> {
  return inTransaction(ctx, async (ctx) => {
    const { projectId } = target;
    const project = projectId == null ? undefined : await lockTargetProject(ctx, projectId);
    const before = await lockItem(ctx, target);
    if (projectId != null && projectId !== before.project_id) checkTargetProject(project, before.team_id);
    const after: ItemFields = { ...next(before), project_id: projectId === undefined ? before.project_id : projectId };
    const changes = itemChanges(before, after);
    const changed = Object.keys(changes);
    if (changed.length === 0) return before;
    const version = before.version + 1;
    const item = await before
      .$query(ctx.db)
      .patch({ ...after, version, updated_at: fn.now() })
      .returning('*');
    await recordChange(ctx, {
      team_id: before.team_id,
      project_id: after.project_id,
      feature: getFeature(before.item_type),
      action: 'update',
      entity_type: before.item_type,
      entity_id: before.item_id,
      title: after.title,
      summary: `changed ${changed.join(', ')}`,
      details: { changes, version },
    });
    return item as unknown as Item;
  });
}
