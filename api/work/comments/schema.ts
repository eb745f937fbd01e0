import { z } from 'zod';
import { Id, TaskId, Text, Timestamp } from '../../platform/fields.js';
import { byOffset } from '../../platform/endpoint/pages.js';

const Content = Text.min(1)
  .max(10_000)
  .refine((value) => value.trim() !== '', 'must not be blank')
  .meta({ description: '`@username` mentions a member of the team' });

export const AddComment = z
  .object({ content: Content, parent_comment_id: Id.nullish().meta({ description: 'The comment to reply to' }) })
  .meta({ id: 'AddComment' });
export type AddComment = z.output<typeof AddComment>;

export const EditComment = z.object({ content: Content }).meta({ id: 'EditComment' });
export type EditComment = z.output<typeof EditComment>;

export const CommentsOfTask = z.object({ task_id: TaskId });
export const ListComments = z.object(byOffset());
export type ListComments = z.output<typeof ListComments>;
export const CommentParams = z.object({ comment_id: Id });

export const CommentRecord = z
  .object({
    comment_id: z.string(),
    task_id: z.string(),
    parent_comment_id: z.string().nullable(),
    content: z.string().meta({ description: 'Empty in a deleted comment' }),
    author_id: z.string(),
    mentions: z.array(z.string()),
    created_at: Timestamp,
    updated_at: Timestamp,
    edited: z.boolean(),
    deleted: z.boolean().meta({ description: 'True in a deleted comment that still has replies' }),
    get replies(): z.ZodArray<z.ZodType> {
      return z.array(CommentRecord);
    },
  })
  .meta({ id: 'Comment' });

export interface CommentRecord {
  comment_id: string;
  task_id: string;
  parent_comment_id: string | null;
  content: string;
  author_id: string;
  mentions: string[];
  created_at: string;
  updated_at: string;
  edited: boolean;
  deleted: boolean;
  replies: CommentRecord[];
}

export const DeletedComment = z.object({ success: z.literal(true), comment_id: z.string() }).meta({ id: 'DeletedComment' });
