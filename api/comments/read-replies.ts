import { Comment } from '../../db/models/comment.js';
import type { Context } from '../core/context.js';
import { presentComment } from './present.js';
import type { CommentRecord } from './schema.js';

/** The replies to these comments of a task by the comment they answer, oldest first; deleted ones are left out. */
export async function readReplies(ctx: Context, taskId: string, commentIds: string[]): Promise<Map<string, CommentRecord[]>> {
  const rows = await Comment.query(ctx.db)
    .where({ task_id: taskId })
    .whereIn('parent_comment_id', commentIds)
    .modify('live')
    .orderBy(['created_at', 'comment_id']);
  const replies = new Map<string, CommentRecord[]>(commentIds.map((id) => [id, []]));
  for (const row of rows) replies.get(row.parent_comment_id as string)?.push(presentComment(row));
  return replies;
}
