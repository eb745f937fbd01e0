import { ADA, AT } from './people.js';
import { TASK_ID } from './work.js';

/** Example responses about the work graph. */

const NOTE_ID = '019a9f00-0000-7000-8000-000000000012';
const RELATION_ID = '019a9f00-0000-7000-8000-000000000013';

const relation = {
  relation_id: RELATION_ID,
  source_id: TASK_ID,
  target_id: NOTE_ID,
  relation_type: 'related_to',
  created_by: ADA,
  created_at: AT,
};

export const GRAPH: Record<string, unknown> = {
  Relation: relation,
  ItemRelation: {
    ...relation,
    direction: 'out',
    effective_type: 'related_to',
    item: { item_type: 'note', item_id: NOTE_ID, title: 'What we decided on Monday', status: 'active' },
  },
  DeletedRelation: { success: true, relation_id: RELATION_ID },
};
