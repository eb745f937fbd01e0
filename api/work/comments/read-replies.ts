import { run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { type CommentRow, presentComment } from './present.js';
import { MAX_REPLIES, readRepliesStatement, repliesStatement } from './read-replies.sql.js';
import type { CommentRecord } from './schema.js';

/**
 * Adds replies to comments of a task, oldest first, without deleted ones. Beyond 10,000 in all, or the bytes of a list, the newest are omitted,
 * as `truncated` reports; a page of fewer comments has them.
 */
export async function withReplies(
  ctx: Context,
  taskId: string,
  comments: CommentRecord[],
): Promise<{ rows: CommentRecord[]; truncated: boolean }> {
  const replies = new Map<string | null, CommentRecord[]>(comments.map(({ comment_id }) => [comment_id, []]));
  const room = ctx.config.LIST_MAX_BYTES - Buffer.byteLength(JSON.stringify(comments));
  const found = await run<{ comment_id: string; fits: boolean }>(ctx.db, repliesStatement, [taskId, [...replies.keys()], room]);
  const shown = found.slice(0, MAX_REPLIES).filter(({ fits }) => fits);
  const read = await run<CommentRow>(ctx.db, readRepliesStatement, [shown.map(({ comment_id }) => comment_id)]);
  for (const row of read) replies.get(row.parent_comment_id)?.push(presentComment(row));
  const rows = comments.map((comment) => ({ ...comment, replies: replies.get(comment.comment_id) ?? [] }));
  return { rows, truncated: shown.length < found.length };
}
