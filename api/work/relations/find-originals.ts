import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';

/** The relation by which a task that was closed as a duplicate names its original (docs/decisions/work.md#duplicates). */
export interface NamedOriginal extends Record<string, unknown> {
  task_id: string;
  relation_id: string;
  original_id: string;
}

/** $1 = task ids. Of each duplicate, its first `related_to` to a live task that was stated when it was closed, or later. */
const statement = defineStatement({
  name: 'find_originals',
  text: /* sql */ `
    select t.task_id, edge.relation_id, edge.original_id from unnest($1::text[]) as wanted(task_id)
    join tasks t on t.task_id = wanted.task_id and t.resolution = 'duplicate' and t.deleted_at is null
    cross join lateral (
      select r.relation_id, r.target_id as original_id from relations r join tasks o on o.task_id = r.target_id and o.deleted_at is null
      where r.source_id = t.task_id and r.kind = 'related' and r.created_at >= t.completed_at
      order by r.created_at, r.relation_id limit 1
    ) edge`,
});

/**
 * Finds which tasks say of which others that they repeat them, by the id of the duplicate. What the caller may read is checked by those who list
 * relations: the answer only says which of them these are.
 */
export async function findOriginals(ctx: Context, taskIds: readonly string[]): Promise<Map<string, NamedOriginal>> {
  if (taskIds.length === 0) return new Map();
  const rows = await run<NamedOriginal>(ctx.db, statement, [taskIds]);
  return new Map(rows.map((row) => [row.task_id, row]));
}
