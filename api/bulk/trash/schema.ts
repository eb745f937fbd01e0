import { z } from 'zod';
import { Id, TaskId, Timestamp } from '../../platform/fields.js';
import { byOffset } from '../../platform/endpoint/pages.js';

const ENTITY_TYPES = ['task', 'project', 'note', 'file', 'whiteboard', 'doc'] as const;

export const ListTrash = z.object({
  team_id: Id.optional(),
  project_id: Id.optional(),
  entity_type: z.enum(ENTITY_TYPES).optional(),
  ...byOffset(),
});
export type ListTrash = z.output<typeof ListTrash>;

export const TrashEntry = z
  .object({
    entity_type: z.enum(ENTITY_TYPES),
    entity_id: z.string(),
    title: z.string(),
    team_id: z.string(),
    project_id: z.string().nullable(),
    deleted_at: Timestamp,
    deleted_by: z.string().nullable(),
    expires_at: Timestamp,
    retention_days: z.int(),
    restore_url: z.string(),
    cascade_id: z.string(),
    cascade_count: z.int().meta({ description: 'Other trash items of the same deletion' }),
  })
  .meta({ id: 'TrashEntry' });
export type TrashEntry = z.output<typeof TrashEntry>;

export const TrashedTaskParams = z.object({ task_id: TaskId });
export const TrashedProjectParams = z.object({ project_id: Id });
export const TrashedItemParams = z.object({ item_id: Id });
export const EmptyTrash = z.object({ team_id: Id });

const Purged = z.int().meta({ description: 'Number of deleted items, including this one' });
export const PurgedItem = z.object({ success: z.literal(true), purged: Purged }).meta({ id: 'PurgedItem' });
export const EmptiedTrash = z.object({ purged: Purged }).meta({ id: 'EmptiedTrash' });

export const Restored = z
  .object({
    message: z.string(),
    success: z.literal(true),
    entity_type: z.enum(ENTITY_TYPES),
    entity_id: z.string(),
    restored_at: Timestamp,
    restored_count: z.int().meta({ description: 'Number of restored items, including this one' }),
  })
  .meta({ id: 'Restored' });
export type Restored = z.output<typeof Restored>;
