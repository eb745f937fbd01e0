import { Comment } from '../../../db/models/comment.js';
import { authorize } from '../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { invalid, notFound } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { findSeat } from '../../platform/access/seats.js';
import { followCommented } from '../tasks/followers/follow-task.js';
import { findMentions } from './find-mentions.js';
import { loadTask } from './load-task.js';
import { presentComment } from './present.js';
import type { AddComment, CommentRecord } from './schema.js';

/** @throws RESOURCE_NOT_FOUND no such comment on this task | INVALID_REQUEST it is a reply itself */
async function checkParent(ctx: Context, taskId: string, parentId: string): Promise<void> {
  const parent = await Comment.query(ctx.db).findById(parentId).where({ task_id: taskId }).modify('live').forShare();
  if (!parent) throw notFound('Comment');
  if (parent.parent_comment_id !== null) throw invalid('Replies cannot be nested');
}

/**
 * Adds a comment to a live task, or a reply to one of its comments. Replies have one level only. `comment_id` is chosen by imports only.
 * @throws RESOURCE_NOT_FOUND no live task, or no such parent comment on it | PERMISSION_DENIED not a member, or a guest
 * | INVALID_REQUEST a reply to a reply
 */
export function addComment(
  ctx: Context,
  taskId: string,
  { content, parent_comment_id }: AddComment,
  comment_id = newId(),
): Promise<CommentRecord> {
  return inTransaction(ctx, async (ctx) => {
    const task = await loadTask(ctx, taskId);
    authorize('comment.write', await findSeat(ctx, task.team_id));
    const parentId = parent_comment_id ?? null;
    if (parentId !== null) await checkParent(ctx, taskId, parentId);
    const mentions = await findMentions(ctx, task.team_id, content);
    const row = await Comment.query(ctx.db)
      .insert({
        comment_id,
        task_id: taskId,
        team_id: task.team_id,
        parent_comment_id: parentId,
        content,
        author_id: requireUser(ctx),
        mentions,
      })
      .returning('*');
    // An automation and an agent comment for their user, who may know nothing of the task.
    const author = ctx.actor.type === 'user' || ctx.actor.type === 'pat' ? [row.author_id] : [];
    await followCommented(ctx, taskId, [...new Set([...author, ...mentions])]);
    const comment = presentComment(row);
    await recordChange(ctx, {
      team_id: task.team_id,
      project_id: task.project_id,
      feature: 'comments',
      action: 'create',
      entity_type: 'comment',
      entity_id: comment.comment_id,
      title: task.title,
      summary: parentId === null ? 'commented on the task' : 'replied to a comment',
      details: { task_id: taskId, parent_comment_id: parentId, mentions },
      event: { type: 'comment.created', payload: { comment, task: task.json } },
    });
    return comment;
  });
}
