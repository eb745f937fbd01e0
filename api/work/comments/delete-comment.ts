import { fn } from 'objection';
import { defineStatement, run } from '../../../db/statement.js';
import { authorize, isAllowed, getRule } from '../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { forbidden } from '../../platform/errors.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { findSeat } from '../../platform/access/seats.js';
import { loadComment } from './load-comment.js';

/** $1 = task id, $2 = comment id. */
const eraseNoticesStatement = defineStatement({
  name: 'erase_notices_of_comment',
  text: 'delete from notifications where item_id = $1 and comment_id = $2',
});

/**
 * Permanently deletes a comment: clears its text, also in notifications that quote it, and keeps the row (docs/decisions/work.md#deleted-comments).
 * @throws RESOURCE_NOT_FOUND unknown, deleted, or its task is in the trash | PERMISSION_DENIED not a member, a guest, or neither the author
 * nor a manager
 */
export function deleteComment(ctx: Context, commentId: string): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    const { comment, task } = await loadComment(ctx, commentId);
    const seat = await findSeat(ctx, task.team_id);
    authorize('comment.write', seat);
    if (comment.author_id !== requireUser(ctx) && !isAllowed('comment.moderate', seat)) {
      throw forbidden(`Only the author or a ${getRule('comment.moderate').seat} can delete a comment`);
    }
    await comment.$query(ctx.db).patch({ content: '', mentions: [], deleted_at: fn.now() });
    await run(ctx.db, eraseNoticesStatement, [task.task_id, commentId]);
    await recordChange(ctx, {
      team_id: task.team_id,
      project_id: task.project_id,
      feature: 'comments',
      action: 'delete',
      entity_type: 'comment',
      entity_id: commentId,
      title: task.title,
      summary: 'deleted a comment',
      details: { task_id: task.task_id, author_id: comment.author_id },
    });
  });
}
