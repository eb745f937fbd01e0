import type { ProposedAction } from '../proposal.js';
import { referenceOf } from '../rules.js';
import type { PlanAction } from '../schema.js';

/** An applied action, with the id of what it created. */
export interface AppliedAction extends PlanAction {
  made_id: string | null;
}

type Inverse = (action: AppliedAction) => ProposedAction | null;

const before =
  (tool: ProposedAction['tool']): Inverse =>
  ({ entity_id, before }) =>
    before === null || entity_id === null ? null : { tool, entity_id, params: before };
const remove =
  (tool: ProposedAction['tool']): Inverse =>
  ({ made_id }) =>
    made_id === null ? null : { tool, entity_id: made_id, params: {} };

const RELATION_FIELDS = ['source_id', 'target_id', 'relation_type'];

const INVERSE: Readonly<Record<PlanAction['tool'], Inverse>> = {
  'task.create': remove('task.delete'),
  'task.update': before('task.update'),
  'task.set_status': before('task.set_status'),
  'task.assign': before('task.assign'),
  'task.comment': remove('comment.delete'),
  'task.delete': ({ entity_id }) => (entity_id === null ? null : { tool: 'task.restore', entity_id, params: {} }),
  'project.update': before('project.update'),
  'relation.create': (action) => {
    const parent = action.before?.['parent_task_id'];
    if (parent === undefined || action.made_id === null) return remove('relation.delete')(action);
    return { tool: 'task.update', entity_id: action.made_id.slice('parent:'.length), params: { parent_task_id: parent } };
  },
  'relation.delete': ({ before }) => {
    if (before === null) return null;
    return { tool: 'relation.create', params: Object.fromEntries(RELATION_FIELDS.map((field) => [field, before[field]])) };
  },
  'note.create': remove('note.delete'),
  'task.restore': ({ entity_id }) => (entity_id === null ? null : { tool: 'task.delete', entity_id, params: {} }),
  'comment.delete': () => null,
  'note.delete': () => null,
};

/**
 * Returns what takes an applied action back; null if nothing does, or if taking back another action of the plan does it already: what changed a
 * task that the plan has created goes with the task.
 */
export function inverseOf(action: AppliedAction): ProposedAction | null {
  if (!action.reversible || referenceOf(action.entity_id) !== undefined) return null;
  return INVERSE[action.tool](action);
}
