import { Comment } from '../../db/models/comment.js';
import type { Context } from '../core/context.js';
import { presentComment } from './present.js';
import type { CommentRecord } from './schema.js';

/** Most replies of one answer, as many as tasks (contract, section 8). */
const MAX_REPLIES = 10_000;

/**
 * Comments of a task with their replies, oldest first; deleted replies are left out. Of more than 10,000 in all the newest are
 * missing, which `truncated` says.
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
