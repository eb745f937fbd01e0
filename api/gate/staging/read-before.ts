import type { EntityType, Fields } from '../work-actions/action.js';
import type { Tool } from '../work-actions/catalogue.js';
import type { Context } from '../../platform/context.js';
import { readTarget, type Target } from './read-target.js';

/** An action with the ids that it has now, instead of references. */
interface Concrete {
  tool: Tool;
  spec: { entity: EntityType };
  entityId: string | null;
  params: Fields;
}

/** Whether the descendants of its target say how much an action does, and how risky it is. */
export const countsTree = ({ tool, params }: Pick<Concrete, 'tool' | 'params'>): boolean =>
  tool === 'task.delete' || params['status'] === 'done' || (tool === 'task.update' && 'project_id' in params);

/** Returns the task that a new relation would make a subtask; undefined for any other relation. */
export function nestedTask({ relation_type, source_id, target_id }: Fields): string | undefined {
  if (relation_type !== 'parent_child' && relation_type !== 'belongs_to') return undefined;
  return String(relation_type === 'parent_child' ? target_id : source_id);
}

/**
 * Reads what an action is about to change, as it is now. For a relation that makes a task a subtask this is the relation to its former
 * parent, which it replaces; nothing for any other creation.
 */
export async function readBefore(
  ctx: Context,
  { spec, entityId, params }: Concrete,
  withTree: boolean,
): Promise<Target | undefined> {
  if (entityId !== null) return readTarget(ctx, spec.entity, entityId, withTree);
  const child = nestedTask(params);
  return child === undefined ? undefined : readTarget(ctx, 'relation', `parent:${child}`);
}
