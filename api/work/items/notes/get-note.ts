import { Item } from '../../../../db/models/item.js';
import { authorize } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { findSeat } from '../../../platform/access/seats.js';
import { presentNote } from './present.js';
import type { Note } from './schema.js';

/**
 * Returns one live note.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED not a member
 */
export async function getNote(ctx: Context, noteId: string): Promise<Note> {
  const item = await Item.query(ctx.db).findById(noteId).where({ item_type: 'note' }).modify('live');
  if (!item) throw notFound('Note');
  authorize('item.read', await findSeat(ctx, item.team_id));
  return presentNote(item);
}
