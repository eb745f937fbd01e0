import { Comment } from '../../db/models/comment.js';
import { authorize } from '../core/access.js';
import type { Context } from '../core/context.js';
import { seatOf } from '../core/seats.js';
import { loadTask } from './load-task.js';
import { presentComment } from './present.js';
import type { CommentRecord } from './schema.js';

/**
 * The comments of a live task, oldest first, replies below theirs. A deleted comment is listed, without its words, only while
 * replies hang on it.
 * @throws RESOURCE_NOT_FOUND no live task | PERMISSION_DENIED stranger
 * Source: decision C9.
 */
export async function listComments(ctx: Context, taskId: string): Promise<CommentRecord[]> {
  const task = await loadTask(ctx, taskId);
  authorize('comment.read', await seatOf(ctx, task.team_id));
  const rows = await Comment.query(ctx.db).where({ task_id: taskId }).orderBy(['created_at', 'comment_id']);
  const repliesTo = (id: string) =>
    rows.filter((row) => row.parent_comment_id === id && row.deleted_at === null).map((row) => presentComment(row));
  return rows
    .filter((row) => row.parent_comment_id === null)
    .map((row) => presentComment(row, repliesTo(row.comment_id)))
    .filter((comment) => !comment.deleted || comment.replies.length > 0);
}
