import { Comment } from '../../../db/models/comment.js';
import type { Context } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { type CommentedTask, findTask } from './load-task.js';

/**
 * Locks a live comment of a live task for a change, and returns both.
 * @throws RESOURCE_NOT_FOUND
 */
export async function loadComment(ctx: Context, commentId: string): Promise<{ comment: Comment; task: CommentedTask }> {
  const comment = await Comment.query(ctx.db).findById(commentId).modify('live').forUpdate();
  const task = comment && (await findTask(ctx, comment.task_id));
  if (!comment || !task) throw notFound('Comment');
  return { comment, task };
}
