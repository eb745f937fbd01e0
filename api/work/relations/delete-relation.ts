import { Relation } from '../../../db/models/relation.js';
import { authorize, isAllowed, type Seat } from '../../platform/access/access.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { conflict, notFound } from '../../platform/errors.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { Id } from '../../platform/fields.js';
import { findSeat } from '../../platform/access/seats.js';
import { type ItemPlace, findPlaces } from '../graph/item-place.js';
import { updateTask } from '../tasks/write/update-task.js';
import { readTaskLinks } from './derived-edges.js';
import { recordAttachment } from './record-attachment.js';
import { derivedEdge } from './rules.js';

/**
 * Moves a subtask to top level, which removes the edge to its parent.
 * @throws RESOURCE_NOT_FOUND no such edge | the errors of `updateTask`
 */
async function unnest(ctx: Context, taskId: string): Promise<void> {
  const task = await readTaskLinks(ctx, taskId);
  if (!task?.parent_task_id) throw notFound('Relation');
  await updateTask(ctx, taskId, { parent_task_id: null });
}

/** @throws RESOURCE_NOT_FOUND no such edge | PERMISSION_DENIED not a member | RESOURCE_CONFLICT always otherwise */
async function refuseRecurrence(ctx: Context, taskId: string): Promise<never> {
  const [task, place] = [await readTaskLinks(ctx, taskId), (await findPlaces(ctx, [taskId])).get(taskId)];
  if (!task?.recurrence_of || !place) throw notFound('Relation');
  authorize('relation.write', await findSeat(ctx, place.team_id));
  throw conflict('This relation follows from the recurrence of the task and cannot be deleted');
}

/** Returns the end that the caller may write to. @throws PERMISSION_DENIED if there is none */
async function writableEnd(ctx: Context, ends: [ItemPlace, ItemPlace]): Promise<ItemPlace> {
  let refused: Seat | null = null;
  for (const end of ends) {
    const seat = await findSeat(ctx, end.team_id);
    if (isAllowed('relation.write', seat)) return end;
    refused ??= seat;
  }
  authorize('relation.write', refused);
  return ends[0];
}

async function deleteStored(ctx: Context, relationId: string): Promise<void> {
  const row = await Relation.query(ctx.db).findById(relationId).forUpdate();
  if (!row) throw notFound('Relation');
  const places = await findPlaces(ctx, [row.source_id, row.target_id]);
  const [source, target] = [places.get(row.source_id), places.get(row.target_id)];
  // The edges of an item in the trash are hidden until it is restored.
  if (!source || !target) throw notFound('Relation');
  const end = await writableEnd(ctx, [source, target]);
  await Relation.query(ctx.db).deleteById(relationId);
  await recordChange(ctx, {
    team_id: end.team_id,
    project_id: end.project_id,
    feature: 'work_graph',
    action: 'delete',
    entity_type: 'relation',
    entity_id: relationId,
    title: end.title,
    summary: `removed a ${row.relation_type} relation`,
    details: { source_id: row.source_id, target_id: row.target_id, relation_type: row.relation_type },
  });
  await recordAttachment(ctx, row, { source, target }, 'removed');
}

/**
 * Deletes an edge. An edge between a subtask and its parent moves the subtask to top level.
 * @throws RESOURCE_NOT_FOUND unknown, or an end is in the trash | PERMISSION_DENIED write access to neither end | RESOURCE_CONFLICT an edge
 * that follows from a recurrence
 */
export async function deleteRelation(ctx: Context, relationId: string): Promise<void> {
  const derived = derivedEdge(relationId);
  await inTransaction(ctx, (ctx) => {
    if (derived?.of === 'nesting') return unnest(ctx, derived.taskId);
    if (derived) return refuseRecurrence(ctx, derived.taskId);
    return deleteStored(ctx, Id.parse(relationId));
  });
}
