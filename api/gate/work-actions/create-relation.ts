import { createRelation as create } from '../../work/relations/create-relation.js';
import { CreateRelation } from '../../work/relations/schema.js';
import { defineAction, REQUESTED } from './action.js';
import { removeMade } from './undo.js';

export const createRelation = defineAction({
  tool: 'relation.create',
  kind: 'create',
  entity: 'relation',
  schema: CreateRelation.strict(),
  references: ['source_id', 'target_id'],
  offered: REQUESTED,
  words: { verb: 'Relate', count: ['new relation', 'new relations'], proposal: 'Proposes a relation between two items.' },
  risk: 'low',
  undo(action) {
    const parent = action.before?.['parent_task_id'];
    if (parent === undefined || action.made_id === null) return removeMade('relation.delete')(action);
    return { tool: 'task.update', entity_id: action.made_id.slice('parent:'.length), params: { parent_task_id: parent } };
  },
  automation: { type: 'create_relation', label: 'Relate two items' },
  async perform(ctx, _id, params) {
    const { created, relation } = await create(ctx, params);
    const { relation_id, source_id, target_id } = relation;
    return {
      made: { entity_type: 'relation', entity_id: relation_id },
      unchanged: !created,
      output: { relation_id, source_id, target_id },
    };
  },
});
