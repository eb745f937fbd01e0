import type { Comment } from '../../../db/models/comment.js';
import type { CommentRecord } from './schema.js';

/** What the API shows of a comment. */
export type CommentRow = Pick<
  Comment,
  | 'comment_id'
  | 'task_id'
  | 'parent_comment_id'
  | 'content'
  | 'author_id'
  | 'mentions'
  | 'created_at'
  | 'updated_at'
  | 'edited'
  | 'deleted_at'
>;

/** Returns a comment as the API shows it, with the given replies. */
export const presentComment = (row: CommentRow, replies: CommentRecord[] = []): CommentRecord => ({
  comment_id: row.comment_id,
  task_id: row.task_id,
  parent_comment_id: row.parent_comment_id,
  content: row.content,
  author_id: row.author_id,
  mentions: row.mentions,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  edited: row.edited,
  deleted: row.deleted_at !== null,
  replies,
});
