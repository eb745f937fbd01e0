import { z } from 'zod';
import { ITEM_TYPES } from '../graph/item-place.js';
import { TaskId, Timestamp } from '../../platform/fields.js';
import { RELATION_TYPES } from './rules.js';

/** The id of any work item. */
const ItemId = TaskId;

export const CreateRelation = z
  .object({
    source_id: ItemId,
    target_id: ItemId,
    relation_type: z.enum(RELATION_TYPES).meta({
      description:
        'Reads from source to target: A `caused_by` B. `parent_child`: the source contains the target. `blocking` equals `blocks`; `blocked_by` and `belongs_to` are the inverses.',
    }),
  })
  .meta({ id: 'CreateRelation' });
export type CreateRelation = z.output<typeof CreateRelation>;

const relationFields = {
  relation_id: z.string(),
  source_id: z.string(),
  target_id: z.string(),
  relation_type: z.enum(RELATION_TYPES),
  created_by: z.string(),
  created_at: Timestamp,
};
export const Relation = z.object(relationFields).meta({ id: 'Relation' });
export type Relation = z.output<typeof Relation>;

/** A relation as seen from one of its items. */
export const ItemRelation = z
  .object({
    ...relationFields,
    direction: z.enum(['out', 'in']).meta({ description: '`out` if the item is the source, `in` if it is the target' }),
    effective_type: z.enum(RELATION_TYPES).meta({
      description:
        'The relation as read from this item. `related_to`, `attached_to`, `caused_by` and `recurrence_of` have no inverse: `direction` tells which item is meant',
    }),
    item: z
      .object({ item_type: z.enum(ITEM_TYPES), item_id: z.string(), title: z.string(), status: z.string() })
      .meta({ description: 'The other end' }),
  })
  .meta({ id: 'ItemRelation' });
export type ItemRelation = z.output<typeof ItemRelation>;

export const ItemParams = z.object({ item_id: ItemId });
export const ListRelations = z.object({
  relation_type: z.enum(RELATION_TYPES).optional().meta({ description: 'Compared with `effective_type`' }),
  direction: z.enum(['out', 'in']).optional(),
});
export type ListRelations = z.output<typeof ListRelations>;

/** A stored relation has a UUID; one that follows from a task's fields has `parent:` or `recurrence:` and the task's id. */
export const RelationParams = z.object({ relation_id: z.string().max(160) });
export const DeletedRelation = z.object({ success: z.literal(true), relation_id: z.string() }).meta({ id: 'DeletedRelation' });
