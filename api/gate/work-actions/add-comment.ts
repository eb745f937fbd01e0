import { addComment as add } from '../../work/comments/add-comment.js';
import { AddComment } from '../../work/comments/schema.js';
import { defineAction, PLAN_SOURCES } from './action.js';
import { removeMade } from './undo.js';

export const addComment = defineAction({
  tool: 'task.comment',
  kind: 'comment',
  entity: 'task',
  schema: AddComment.strict(),
  offered: PLAN_SOURCES,
  words: { verb: 'Comment on', count: ['comment', 'comments'], proposal: 'Proposes a comment on a task.' },
  risk: ({ mentions }) => (mentions > 0 ? 'medium' : 'low'),
  // Mentions have been read.
  isReversible: ({ mentions }) => mentions === 0,
  undo: removeMade('comment.delete'),
  automation: { type: 'add_comment', label: 'Comment on a task', picks: ['content'], defaulted: ['task_id'] },
  async perform(ctx, task_id, params) {
    const { comment_id, mentions } = await add(ctx, task_id, params);
    return { made: { entity_type: 'comment', entity_id: comment_id }, mentions, output: { comment_id, task_id } };
  },
});
