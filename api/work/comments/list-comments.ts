import { Comment } from '../../../db/models/comment.js';
import { authorize } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { findSeat } from '../../platform/access/seats.js';
import { loadTask } from './load-task.js';
import { presentComment } from './present.js';
import type { CommentRecord, ListComments } from './schema.js';

/** Selects the visible comments of a task without replies; a deleted one only while it has replies. */
function listed(ctx: Context, taskId: string) {
  // Also filters by task, because the index requires it.
  const liveReplies = Comment.query(ctx.db)
    .alias('r')
    .where('r.task_id', taskId)
    .whereColumn('r.parent_comment_id', 'c.comment_id')
    .whereNull('r.deleted_at');
  return Comment.query(ctx.db)
    .alias('c')
    .where({ task_id: taskId, parent_comment_id: null })
    .where((query) => {
      void query.whereNull('deleted_at').orWhereExists(liveReplies);
    });
}

/**
 * Lists the comments of a live task, oldest first; `withReplies` adds the replies. A deleted comment is listed, without text, while it has
 * replies. `limit` and `offset` count comments, not replies.
 * @throws RESOURCE_NOT_FOUND no live task | PERMISSION_DENIED not a member
 */
export async function listComments(ctx: Context, taskId: string, { limit, offset }: ListComments): Promise<CommentRecord[]> {
  const task = await loadTask(ctx, taskId);
  authorize('comment.read', await findSeat(ctx, task.team_id));
  const rows = await listed(ctx, taskId).orderBy(['created_at', 'comment_id']).limit(limit).offset(offset);
  return rows.map((row) => presentComment(row));
}

/** Counts the comments without replies. The caller has checked access. */
export function countComments(ctx: Context, taskId: string): Promise<number> {
  return listed(ctx, taskId).resultSize();
}
