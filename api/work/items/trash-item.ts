import { fn } from 'objection';
import { Item } from '../../../db/models/item.js';
import { authorize } from '../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { findSeat } from '../../platform/access/seats.js';
import { getFeature, getName, type StoredType } from './rules.js';
import type { TrashedItem } from './schema.js';

/**
 * Moves a note, file, whiteboard or doc to the trash.
 * @throws RESOURCE_NOT_FOUND no live item of this type | PERMISSION_DENIED non-member or guest
 */
export function trashItem(ctx: Context, itemId: string, type: StoredType): Promise<TrashedItem> {
  return inTransaction(ctx, async (ctx) => {
    const item = await Item.query(ctx.db).findById(itemId).where({ item_type: type }).modify('live').forNoKeyUpdate();
    if (!item) throw notFound(getName(type));
    authorize('item.write', await findSeat(ctx, item.team_id));
    const cascade_id = newId();
    const trashed = (await item
      .$query(ctx.db)
      .patch({ deleted_at: fn.now(), deleted_by: requireUser(ctx), cascade_id, version: item.version + 1 })
      .returning('*')) as unknown as Item;
    await recordChange(ctx, {
      team_id: item.team_id,
      project_id: item.project_id,
      feature: getFeature(type),
      action: 'delete',
      entity_type: type,
      entity_id: itemId,
      title: item.title,
      summary: `moved the ${type} to the trash`,
      details: { cascade_id, cascade_count: 0 },
    });
    return {
      message: `${getName(type)} moved to the trash`,
      success: true,
      verified: true,
      soft_deleted: true,
      deleted_at: (trashed.deleted_at as Date).toISOString(),
      restore_url: `/api/trash/${type}/${itemId}/restore`,
      retention_days: ctx.config.TRASH_RETENTION_DAYS,
    };
  });
}
