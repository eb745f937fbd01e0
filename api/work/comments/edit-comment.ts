import { fn } from 'objection';
import type { Comment } from '../../../db/models/comment.js';
import { authorize } from '../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { forbidden } from '../../platform/errors.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { findSeat } from '../../platform/access/seats.js';
import { findMentions } from './find-mentions.js';
import { loadComment } from './load-comment.js';
import { presentComment } from './present.js';
import { withReplies } from './read-replies.js';
import type { CommentRecord, EditComment } from './schema.js';

/** Returns a comment with its replies, for the response. */
async function shown(ctx: Context, comment: Comment): Promise<CommentRecord> {
  const { rows } = await withReplies(ctx, comment.task_id, [presentComment(comment)]);
  return rows[0] as CommentRecord;
}

/**
 * Updates the text of the caller's own comment; the same text changes nothing.
 * @throws RESOURCE_NOT_FOUND unknown, deleted, or its task is in the trash | PERMISSION_DENIED not a member, a guest, or not the author
 */
export function editComment(ctx: Context, commentId: string, { content }: EditComment): Promise<CommentRecord> {
  return inTransaction(ctx, async (ctx) => {
    const { comment, task } = await loadComment(ctx, commentId);
    authorize('comment.write', await findSeat(ctx, task.team_id));
    if (comment.author_id !== requireUser(ctx)) throw forbidden('Only the author can edit a comment');
    if (comment.content === content) return shown(ctx, comment);
    const mentions = await findMentions(ctx, task.team_id, content);
    const edited = await comment.$query(ctx.db).patch({ content, mentions, edited: true, updated_at: fn.now() }).returning('*');
    await recordChange(ctx, {
      team_id: task.team_id,
      project_id: task.project_id,
      feature: 'comments',
      action: 'update',
      entity_type: 'comment',
      entity_id: commentId,
      title: task.title,
      summary: 'edited a comment',
      details: { task_id: task.task_id, mentions },
    });
    return shown(ctx, edited as unknown as Comment);
  });
}
