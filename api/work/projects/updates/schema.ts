import { z } from 'zod';
import { byCursor } from '../../../platform/endpoint/pages.js';
import { Id, Text, Timestamp } from '../../../platform/fields.js';
import { Health } from '../schema.js';

const Content = Text.min(1)
  .max(5_000)
  .refine((value) => value.trim() !== '', 'must not be blank')
  .meta({ description: 'Markdown' });

export const PostProjectUpdate = z.object({ health: Health, content: Content }).meta({ id: 'PostProjectUpdate' });
export type PostProjectUpdate = z.output<typeof PostProjectUpdate>;

export const EditProjectUpdate = z
  .object({ health: Health.optional(), content: Content.optional() })
  .meta({ id: 'EditProjectUpdate' });
export type EditProjectUpdate = z.output<typeof EditProjectUpdate>;

export const ListProjectUpdates = z.object(byCursor('update_id'));
export type ListProjectUpdates = z.output<typeof ListProjectUpdates>;
export const ProjectUpdateParams = z.object({ update_id: Id });

export const ProjectUpdateRecord = z
  .object({
    update_id: z.string(),
    project_id: z.string(),
    health: Health,
    content: z.string(),
    author_id: z.string(),
    created_at: Timestamp,
    updated_at: Timestamp,
    edited: z.boolean(),
  })
  .meta({ id: 'ProjectUpdate' });
export type ProjectUpdateRecord = z.output<typeof ProjectUpdateRecord>;

export const DeletedProjectUpdate = z
  .object({ success: z.literal(true), update_id: z.string() })
  .meta({ id: 'DeletedProjectUpdate' });
