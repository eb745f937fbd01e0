import { stored } from '../declare.js';
import { NOTE } from './notes.js';
import { Relation, TASK } from './shapes.js';

const RELATION = {
  relation_id: '0197a000-0000-7000-8000-000000000007',
  source_id: TASK.task_id,
  target_id: NOTE.note_id,
  relation_type: 'related_to',
};

export const relationEvents = {
  'relation.created': stored({
    payload: { relation: Relation },
    trigger: 'Two items are related',
    past: 'Two items were related',
    sample: { relation: RELATION },
  }),
};
