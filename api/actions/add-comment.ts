import type { z } from 'zod';
import { addComment as add } from '../comments/add-comment.js';
import { AddComment } from '../comments/schema.js';
import { TaskId } from '../core/fields.js';
import type { ActionType } from './contract/action-type.js';

const Params = AddComment.pick({ content: true }).extend({ task_id: TaskId });

export const addComment: ActionType<z.output<typeof Params>> = {
  type: 'add_comment',
  label: 'Comment on a task',
  category: 'core',
  params: Params,
  defaulted: ['task_id'],
  async perform(ctx, { task_id, content }) {
    const { comment_id } = await add(ctx, task_id, { content });
    return { entity_type: 'comment', entity_id: comment_id, output: { comment_id, task_id } };
  },
};
