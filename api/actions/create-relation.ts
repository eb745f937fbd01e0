import type { z } from 'zod';
import { createRelation as create } from '../relations/create-relation.js';
import { derivedEdge } from '../relations/rules.js';
import { CreateRelation } from '../relations/schema.js';
import type { ActionType } from './contract/action-type.js';

// A copy without the name of the schema, as the parameters of other actions.
const Params = CreateRelation.extend({});

export const createRelation: ActionType<z.output<typeof Params>> = {
  type: 'create_relation',
  label: 'Relate two items',
  category: 'core',
  params: Params,
  async perform(ctx, params) {
    const { relation } = await create(ctx, params);
    const { relation_id, source_id, target_id } = relation;
    const output = { relation_id, source_id, target_id };
    // An edge that follows from a task's fields has no row: the effect is the task's.
    const derived = derivedEdge(relation_id);
    return derived
      ? { entity_type: 'task', entity_id: derived.taskId, output }
      : { entity_type: 'relation', entity_id: relation_id, output };
  },
};
