import { type Context, inTransaction } from '../../platform/context.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { getFeature, type StoredType } from '../../work/items/rules.js';
import { eraseItems } from './erase.js';
import { lockTrashedItem } from './lock-trashed-item.js';

/**
 * Permanently deletes a note, file, whiteboard or doc in the trash. A concurrent restore either commits first or finds nothing. Returns the
 * number of items.
 * @throws RESOURCE_NOT_FOUND unknown or live | PERMISSION_DENIED below manager
 */
export function purgeItem(ctx: Context, type: StoredType, itemId: string): Promise<number> {
  return inTransaction(ctx, async (ctx) => {
    const { team_id, project_id, title, cascade_id } = await lockTrashedItem(ctx, type, itemId, 'trash.purge');
    await eraseItems(ctx, [itemId]);
    await recordChange(ctx, {
      team_id,
      project_id,
      feature: getFeature(type),
      action: 'purge',
      severity: 'MEDIUM',
      entity_type: type,
      entity_id: itemId,
      title,
      summary: `purged the ${type}`,
      details: { cause: 'purged', title, cascade_id, purged_count: 1 },
    });
    return 1;
  });
}
