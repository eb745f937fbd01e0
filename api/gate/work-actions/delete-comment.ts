import { z } from 'zod';
import { deleteComment as remove } from '../../work/comments/delete-comment.js';
import { defineAction } from './action.js';

export const deleteComment = defineAction({
  tool: 'comment.delete',
  kind: 'remove',
  entity: 'comment',
  schema: z.strictObject({}),
  offered: [],
  words: { verb: 'Delete comment on', count: ['deleted comment', 'deleted comments'] },
  risk: 'medium',
  undo: null,
  async perform(ctx, id) {
    await remove(ctx, id);
    return {};
  },
});
