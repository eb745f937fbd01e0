import { run } from '../../../db/statement.js';
import { type Context, callerJson } from '../../platform/context.js';
import { type Change, recordChanges } from '../../platform/changes/record-change.js';
import { enqueueCascadeStatement } from './enqueue-cascade.sql.js';

/** What a deletion, restoration or purge took along: ids of tasks, and of notes, files, whiteboards and docs. */
export interface Members {
  task_ids: string[];
  item_ids: string[];
}

/** Ids in one audit entry: 130 kB at most, as an id has 255 characters at most. */
const IDS_PER_ENTRY = 500;
/** Enqueues the events of tasks that a deletion or restoration took along, in its transaction. */
export async function enqueueCascade(
  ctx: Context,
  type: 'task.cascade_deleted' | 'task.cascade_restored',
  { cascade_id, team_id, task_ids }: { cascade_id: string | null; team_id: string; task_ids: string[] },
): Promise<void> {
  if (task_ids.length === 0) return;
  await run(ctx.db, enqueueCascadeStatement, [JSON.stringify(callerJson(ctx)), type, cascade_id, team_id, task_ids]);
}

/** Returns the members in pages; the first also without any. */
function splitIntoPages({ task_ids, item_ids }: Members): Members[] {
  const count = task_ids.length + item_ids.length;
  return Array.from({ length: Math.max(1, Math.ceil(count / IDS_PER_ENTRY)) }, (_, page) => {
    const [from, to] = [page * IDS_PER_ENTRY, (page + 1) * IDS_PER_ENTRY];
    const before = task_ids.length;
    return {
      task_ids: task_ids.slice(from, to),
      item_ids: item_ids.slice(Math.max(0, from - before), Math.max(0, to - before)),
    };
  });
}

/**
 * Records a change and names what it took along. The entry of the change lists up to 500 ids; entries of the same entity and
 * correlation list the rest (docs/decisions/bulk.md#trash-cascades). Returns the first entry's id.
 */
export async function recordCascade(
  ctx: Context,
  change: Omit<Change, 'depth' | 'causeUserIds'>,
  members: Members,
): Promise<string> {
  const { summary: _summary, event: _event, ...entry } = change;
  const { cascade_id, cause } = change.details ?? {};
  const [first, ...rest] = splitIntoPages(members);
  const pages = rest.length + 1;
  const [auditId] = await recordChanges(ctx, [
    { ...change, details: { ...change.details, ...first, ...(pages > 1 && { page: 1, pages }) } },
    ...rest.map((page, index) => ({
      ...entry,
      details: { cascade_id, ...(cause ? { cause } : {}), ...page, page: index + 2, pages },
    })),
  ]);
  return auditId as string;
}
