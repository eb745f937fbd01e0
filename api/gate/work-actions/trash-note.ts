import { z } from 'zod';
import { trashItem } from '../../work/items/trash-item.js';
import { defineAction } from './action.js';

export const trashNote = defineAction({
  tool: 'note.delete',
  kind: 'remove',
  entity: 'note',
  schema: z.strictObject({}),
  offered: [],
  words: { verb: 'Delete note', count: ['deleted note', 'deleted notes'] },
  risk: 'medium',
  undo: null,
  async perform(ctx, id) {
    await trashItem(ctx, id, 'note');
    return {};
  },
});
