import { z } from 'zod';
import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { addComment } from './add-comment.js';
import { deleteComment } from './delete-comment.js';
import { editComment } from './edit-comment.js';
import { countComments, listComments } from './list-comments.js';
import { withReplies } from './read-replies.js';
import { AddComment, CommentParams, CommentRecord, CommentsOfTask, DeletedComment, EditComment, ListComments } from './schema.js';

const tag = 'Comments';

export const commentRoutes: Endpoint[] = [
  endpoint({
    id: 'listComments',
    method: 'get',
    path: '/api/tasks/:task_id/comments',
    tag,
    summary: 'List comments of a task',
    ability: 'comment.read',
    scope: 'tasks:read',
    description:
      'Oldest first, replies nested. `limit` and `offset` count comments without replies. A response has at most 10,000 replies, and 10 MB; `X-Truncated: true` marks that newer ones were cut. Ask for fewer comments to get them.',
    capped: true,
    params: CommentsOfTask,
    query: ListComments,
    response: z.array(CommentRecord),
    errors: [404],
    pages: {
      batch: 50,
      total: ({ ctx, params }) => countComments(ctx, params.task_id),
      fill: ({ ctx, params }, rows) => withReplies(ctx, params.task_id, rows as CommentRecord[]),
    },
    handle: ({ ctx, params, query }) => listComments(ctx, params.task_id, query),
  }),
  endpoint({
    id: 'createComment',
    method: 'post',
    path: '/api/tasks/:task_id/comments',
    tag,
    summary: 'Create a comment',
    description: 'Replies nest one level: a reply to a reply is a 400.',
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
    id: 'updateComment',
    method: 'patch',
    path: '/api/comments/:comment_id',
    tag,
    summary: 'Update a comment',
    description: 'Only the author may edit. The response has at most the 10,000 oldest replies.',
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
    id: 'deleteComment',
    method: 'delete',
    path: '/api/comments/:comment_id',
    tag,
    summary: 'Delete a comment',
    description: 'A comment with replies stays listed, empty and with `deleted: true`.',
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
