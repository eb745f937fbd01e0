import { z } from 'zod';
import { deleteRelation as remove } from '../../work/relations/delete-relation.js';
import { defineAction, REQUESTED } from './action.js';

const FIELDS = ['source_id', 'target_id', 'relation_type'];

export const deleteRelation = defineAction({
  tool: 'relation.delete',
  kind: 'remove',
  entity: 'relation',
  schema: z.strictObject({}),
  offered: REQUESTED,
  words: {
    verb: 'Remove relation of',
    count: ['removed relation', 'removed relations'],
    proposal: 'Proposes to delete a relation.',
  },
  risk: 'medium',
  undo: ({ before }) =>
    before && { tool: 'relation.create', params: Object.fromEntries(FIELDS.map((field) => [field, before[field]])) },
  async perform(ctx, id) {
    await remove(ctx, id);
    return {};
  },
});
