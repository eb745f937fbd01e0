import { CustomField } from '../../../db/models/custom-field.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { lockField } from './lock-field.js';
import { recordFieldChange } from './record-field-change.js';

/**
 * Moves a field past the one before or behind it among those of its team for the same kind of items, archived ones aside; at an end it stays. All of
 * them are locked in the order of their ids, so two that move at once do not undo each other.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below manager
 */
export function shiftField(ctx: Context, fieldId: string, step: -1 | 1): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    const { team_id, entity_type } = await lockField(ctx, fieldId, 'team');
    const all = await CustomField.query(ctx.db).where({ team_id, entity_type }).orderBy(['position', 'created_at', 'field_id']);
    const order = all.filter(({ is_archived, field_id }) => !is_archived || field_id === fieldId);
    const at = order.findIndex(({ field_id }) => field_id === fieldId);
    const [moved, other] = [order[at], order[at + step]];
    if (!moved || !other) return;
    const places = all.map((field) => (field === moved ? other : field === other ? moved : field));
    for (const [position, field] of places.entries())
      if (field.position !== position) await field.$query(ctx.db).patch({ position });
    await recordFieldChange(ctx, moved, 'update', { position: places.indexOf(moved) });
  });
}
