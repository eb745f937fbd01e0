import { Relation } from '../../../db/models/relation.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { invalid } from '../../platform/errors.js';
import { findSeat } from '../../platform/access/seats.js';
import { findPlaces } from '../graph/item-place.js';
import { createRelation } from './create-relation.js';
import { deleteRelation } from './delete-relation.js';
import { findOriginals } from './find-originals.js';
import { canonicalEdge } from './rules.js';

/** What naming an original has changed. */
export interface Naming {
  /** The original that was named before; empty for none. */
  before: string;
  /** The tasks were related already: their relation was stated anew, and is no new one. */
  wasRelated: boolean;
}

/** Ends the relation of two tasks, so that it can be stated anew. Returns whether there was one. */
async function endRelated(ctx: Context, source_id: string, target_id: string): Promise<boolean> {
  const { kind, from_id, to_id } = canonicalEdge({ source_id, target_id, relation_type: 'related_to' });
  const known = await Relation.query(ctx.db).findOne({ kind, from_id, to_id });
  if (known) await deleteRelation(ctx, known.relation_id);
  return known !== undefined;
}

/**
 * Says of a task that is closed as a duplicate which other task it repeats, by a `related_to` relation; null takes that back. Undefined if
 * it said so already.
 * @throws INVALID_REQUEST the other is no task, the task itself, or its duplicate | the errors of `createRelation` and `deleteRelation`
 */
export function nameOriginal(ctx: Context, taskId: string, originalId: string | null): Promise<Naming | undefined> {
  return inTransaction(ctx, async (ctx) => {
    const now = (await findOriginals(ctx, [taskId])).get(taskId);
    if ((now?.original_id ?? null) === originalId) return undefined;
    if (now) await deleteRelation(ctx, now.relation_id);
    const before = now?.original_id ?? '';
    if (originalId === null) return { before, wasRelated: false };
    const original = (await findPlaces(ctx, [originalId])).get(originalId);
    // Strangers to its team learn from the relation only that they are none of its members.
    const isOther = original !== undefined && original.item_type !== 'task';
    if (isOther && (await findSeat(ctx, original.team_id)) !== null)
      throw invalid('A task can be a duplicate of another task only');
    if ((await findOriginals(ctx, [originalId])).get(originalId)?.original_id === taskId)
      throw invalid('That task is closed as a duplicate of this one');
    const wasRelated = await endRelated(ctx, taskId, originalId);
    await createRelation(ctx, { source_id: taskId, target_id: originalId, relation_type: 'related_to' });
    return { before, wasRelated };
  });
}
