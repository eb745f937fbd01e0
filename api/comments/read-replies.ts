import { Comment } from '../../db/models/comment.js';
import type { Context } from '../core/context.js';
import { presentComment } from './present.js';
import type { CommentRecord } from './schema.js';

/** Maximum number of replies per response, the same as for tasks. */
const MAX_REPLIES = 10_000;

/**
 * Adds replies to comments of a task, oldest first, without deleted ones. Beyond 10,000 in all the newest are omitted, as `truncated`
 * reports.
 */
export async function withReplies(
  ctx: Context,
  taskId: string,
  comments: CommentRecord[],
): Promise<{ rows: CommentRecord[]; truncated: boolean }> {
  const replies = new Map<string | null, CommentRecord[]>(comments.map(({ comment_id }) => [comment_id, []]));
  const found = await Comment.query(ctx.db)
    .where({ task_id: taskId })
    .whereIn('parent_comment_id', [...replies.keys()] as string[])
    .modify('live')
    .orderBy(['created_at', 'comment_id'])
    .limit(MAX_REPLIES + 1);
  for (const row of found.slice(0, MAX_REPLIES)) replies.get(row.parent_comment_id)?.push(presentComment(row));
  const rows = comments.map((comment) => ({ ...comment, replies: replies.get(comment.comment_id) ?? [] }));
  return { rows, truncated: found.length > MAX_REPLIES };
}
