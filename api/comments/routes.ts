import { z } from 'zod';
import { type Endpoint, endpoint } from '../endpoint/endpoint.js';
import { addComment } from './add-comment.js';
import { deleteComment } from './delete-comment.js';
import { editComment } from './edit-comment.js';
import { countComments, listComments } from './list-comments.js';
import { withReplies } from './read-replies.js';
import { AddComment, CommentParams, CommentRecord, CommentsOfTask, DeletedComment, EditComment, ListComments } from './schema.js';

const tag = 'Comments';

export const commentRoutes: Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/tasks/:task_id/comments',
    tag,
    summary: 'List the comments of a task, replies nested',
    ability: 'comment.read',
    scope: 'tasks:read',
    description:
      'Oldest first. `limit` and `offset` count comments; each comes with its replies. Of more than 10,000 replies in one answer the newest are left out, and `X-Truncated: true` says so.',
    capped: true,
    params: CommentsOfTask,
    query: ListComments,
    response: z.array(CommentRecord),
    errors: [404],
    pages: {
      total: ({ ctx, params }) => countComments(ctx, params.task_id),
      fill: ({ ctx, params }, rows) => withReplies(ctx, params.task_id, rows as CommentRecord[]),
    },
    handle: ({ ctx, params, query }) => listComments(ctx, params.task_id, query),
  }),
  endpoint({
    method: 'post',
    path: '/api/tasks/:task_id/comments',
    tag,
    summary: 'Comment on a task',
    description: 'Replies nest one level: a reply to a reply is refused with 400.',
    ability: 'comment.write',
    scope: 'tasks:write',
    params: CommentsOfTask,
    body: AddComment,
    response: CommentRecord,
    status: 201,
    errors: [404],
    example: { content: 'Ready for review, @ada' },
    handle: ({ ctx, params, body }) => addComment(ctx, params.task_id, body),
  }),
  endpoint({
    method: 'patch',
    path: '/api/comments/:comment_id',
    tag,
    summary: 'Edit a comment of one’s own',
    description: 'The answer shows at most 10,000 replies, the oldest.',
    ability: 'comment.write',
    scope: 'tasks:write',
    params: CommentParams,
    body: EditComment,
    response: CommentRecord,
    errors: [404],
    example: { content: 'Ready for review, @max' },
    handle: ({ ctx, params, body }) => editComment(ctx, params.comment_id, body),
  }),
  endpoint({
    method: 'delete',
    path: '/api/comments/:comment_id',
    tag,
    summary: 'Delete a comment',
    description: 'One with replies stays listed, empty and marked as deleted.',
    ability: 'comment.write',
    scope: 'tasks:write',
    params: CommentParams,
    response: DeletedComment,
    errors: [404],
    async handle({ ctx, params }) {
      await deleteComment(ctx, params.comment_id);
      return { success: true, comment_id: params.comment_id };
    },
  }),
];
