import { fn } from 'objection';
import type { Comment } from '../../../db/models/comment.js';
import { defineStatement, run } from '../../../db/statement.js';
import { authorize } from '../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { forbidden } from '../../platform/errors.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { findSeat } from '../../platform/access/seats.js';
import { followCommented } from '../tasks/followers/follow-task.js';
import { findMentions } from './find-mentions.js';
import { loadComment } from './load-comment.js';
import { presentComment } from './present.js';
import { withReplies } from './read-replies.js';
import type { CommentRecord, EditComment } from './schema.js';

/**
 * $1 = task id, $2 = comment id, $3 = ids of those whom it mentions now. Takes back the unread notifications that quote the old text, and marks the comment
 * for those whom they were for: they are told the new one, unless it does not name them any more. Whom it names now has a mark of the row's trigger.
 */
const requoteStatement = defineStatement({
  name: 'requote_comment',
  text: /* sql */ `
    with gone as (
      delete from notifications where item_id = $1 and comment_id = $2::uuid and read_at is null returning kind, team_id, user_id
    )
    insert into notice_marks (kind, team_id, user_id, entity_id)
    select g.kind, g.team_id, g.user_id, $2::uuid::text from gone g where g.kind = 'mentioned' or g.user_id <> all($3::uuid[])`,
});

/** Returns a comment with its replies, for the response. */
async function shown(ctx: Context, comment: Comment): Promise<CommentRecord> {
  const { rows } = await withReplies(ctx, comment.task_id, [presentComment(comment)]);
  return rows[0] as CommentRecord;
}

/**
 * Updates the text of the caller's own comment, also in unread notifications that quote it; the same text changes nothing.
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
    await followCommented(ctx, task.task_id, mentions);
    await run(ctx.db, requoteStatement, [task.task_id, commentId, mentions]);
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
