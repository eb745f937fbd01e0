import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { DomainError } from '../../platform/errors.js';
import { circularRelation } from '../graph/prevent-circular-relation.js';
import { OWN_DESCENDANT } from '../tasks/write/lock-move-target.js';
import { updateTask } from '../tasks/write/update-task.js';
import { type CanonicalEdge, nestingEdgeId, recurrenceEdgeId } from './rules.js';
import type { Relation } from './schema.js';

/** A relation, and whether the call created it. */
export interface RelationCreation {
  created: boolean;
  relation: Relation;
}

/** Fields of a task from which edges follow. */
export interface TaskLinks extends Record<string, unknown> {
  task_id: string;
  parent_task_id: string | null;
  recurrence_of: string | null;
  created_by: string;
  created_at: Date;
}

const statement = defineStatement({
  name: 'links_of_task',
  text: /* sql */ `
    select task_id, parent_task_id, recurrence_of, created_by, created_at from tasks where task_id = $1 and deleted_at is null`,
});

/** Reads the fields of a live task from which edges follow; undefined if there is no such task. */
export async function readTaskLinks(ctx: Context, taskId: string): Promise<TaskLinks | undefined> {
  const [row] = await run<TaskLinks>(ctx.db, statement, [taskId]);
  return row;
}

const nestingEdge = (task: TaskLinks, parentId: string): Relation => ({
  relation_id: nestingEdgeId(task.task_id),
  source_id: parentId,
  target_id: task.task_id,
  relation_type: 'parent_child',
  created_by: task.created_by,
  created_at: task.created_at.toISOString(),
});

/** Returns the edge of an occurrence of a recurring task to the previous one. */
export const recurrenceEdge = (task: TaskLinks, previousId: string): Relation => ({
  relation_id: recurrenceEdgeId(task.task_id),
  source_id: task.task_id,
  target_id: previousId,
  relation_type: 'recurrence_of',
  created_by: task.created_by,
  created_at: new Date(task.created_at).toISOString(),
});

/** Sets the parent of a task. A parent below it is a cycle of relations here, not an invalid field. */
async function setParent(ctx: Context, taskId: string, parent_task_id: string): Promise<void> {
  try {
    await updateTask(ctx, taskId, { parent_task_id });
  } catch (error) {
    throw error instanceof DomainError && error.message === OWN_DESCENDANT ? circularRelation() : error;
  }
}

/**
 * Makes `to_id` a subtask of `from_id`, both of one project; it leaves its previous parent.
 * @throws the errors of `updateTask` | RESOURCE_CONFLICT a cycle
 */
export async function nestTask(ctx: Context, { from_id, to_id }: CanonicalEdge): Promise<RelationCreation> {
  const before = await readTaskLinks(ctx, to_id);
  await setParent(ctx, to_id, from_id);
  const task = before ?? (await readTaskLinks(ctx, to_id));
  if (!task) throw new Error(`Task ${to_id} was updated but is not there`);
  return { created: before?.parent_task_id !== from_id, relation: nestingEdge(task, from_id) };
}
