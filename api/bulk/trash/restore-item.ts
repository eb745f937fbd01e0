import { defineStatement, run } from '../../../db/statement.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { getFeature, getName, type StoredType } from '../../work/items/rules.js';
import { checkLiveProject, lockProjectOfItem, lockTrashedItem } from './lock-trashed-item.js';
import type { Restored } from './schema.js';

/** $1 = item id. */
const statement = defineStatement({
  name: 'restore_item',
  text: `update items set deleted_at = null, deleted_by = null, cascade_id = null, version = version + 1 where item_id = $1
    returning now() as restored_at`,
});

/**
 * Restores a note, file, whiteboard or doc.
 * @throws RESOURCE_NOT_FOUND unknown or live | PERMISSION_DENIED non-member or guest | RESOURCE_CONFLICT its project is in the trash
 */
export function restoreItem(ctx: Context, type: StoredType, itemId: string): Promise<Restored> {
  return inTransaction(ctx, async (ctx) => {
    const project = await lockProjectOfItem(ctx, itemId);
    const item = await lockTrashedItem(ctx, type, itemId, 'trash.restore');
    checkLiveProject(project, item);
    const [back] = await run<{ restored_at: Date }>(ctx.db, statement, [itemId]);
    if (!back) throw new Error(`Item ${itemId} did not come back`);
    await recordChange(ctx, {
      team_id: item.team_id,
      project_id: item.project_id,
      feature: getFeature(type),
      action: 'restore',
      entity_type: type,
      entity_id: itemId,
      title: item.title,
      summary: `restored the ${type}`,
      details: { cascade_id: item.cascade_id, restored_count: 1 },
    });
    return {
      message: `${getName(type)} restored`,
      success: true,
      entity_type: type,
      entity_id: itemId,
      restored_at: back.restored_at.toISOString(),
      restored_count: 1,
    };
  });
}
