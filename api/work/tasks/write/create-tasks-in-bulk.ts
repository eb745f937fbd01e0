import { authorize } from '../../../platform/access/access.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { DomainError, invalidFields } from '../../../platform/errors.js';
import { nextTurn } from '../../../platform/event-loop.js';
import { Id } from '../../../platform/fields.js';
import { fieldErrors, ZOD_MESSAGES } from '../../../platform/validation/messages.js';
import { CreateTask } from '../schema.js';
import { byTaskId, type Draft, keyShareLockProjects, type TaskCreation, writeNewTasks } from './write-new-tasks.js';

type Result = TaskCreation | DomainError;

/** Items validated per turn of the event loop: about a millisecond. */
const ITEMS_PER_TURN = 50;

/** Validates the items; returns the valid ones and the errors of the others by index. */
async function readItems(items: unknown[]): Promise<{ drafts: Draft[]; results: Map<number, Result> }> {
  const drafts: Draft[] = [];
  const results = new Map<number, Result>();
  for (const [index, item] of items.entries()) {
    if (index % ITEMS_PER_TURN === 0) await nextTurn();
    const parsed = CreateTask.safeParse(item, ZOD_MESSAGES);
    if (parsed.success) drafts.push({ index, fields: parsed.data });
    else results.set(index, invalidFields(fieldErrors(`body.${index}`, parsed.error)));
  }
  return { drafts, results };
}

/** Returns every project that an item names, even an invalid item: a project without write access rejects the whole call. */
function collectProjects(items: unknown[]): Set<string> {
  const ids = items.map((item) =>
    typeof item === 'object' && item !== null ? (item as { project_id?: unknown }).project_id : null,
  );
  return new Set(ids.map((id) => Id.safeParse(id).data).filter((id) => id !== undefined));
}

/**
 * Returns the drafts that can be written together: none depends on an earlier unfinished draft. A draft waits for an earlier one
 * with the same `task_id`, or with its parent's, until that id has a task. It also waits for an earlier waiting draft that names
 * it as its parent, because in the caller's order that parent did not exist yet.
 */
function nextWave(open: Draft[], existing: ReadonlySet<string>): Draft[] {
  const ahead = new Set<string>();
  const awaitedTooEarly = new Set<string>();
  const wave: Draft[] = [];
  for (const draft of open) {
    const { task_id: id, parent_task_id: parent } = draft.fields;
    const isOpen = (key: string | null | undefined) => key != null && ahead.has(key) && !existing.has(key);
    if (isOpen(id) || isOpen(parent) || (id != null && awaitedTooEarly.has(id))) {
      if (parent != null) awaitedTooEarly.add(parent);
    } else wave.push(draft);
    if (id != null) ahead.add(id);
  }
  return wave;
}

/** Writes the drafts as if one by one, in as few statements as their dependencies allow: usually one. */
async function writeInOrder(ctx: Context, drafts: Draft[], results: Map<number, Result>): Promise<void> {
  const existing = new Set<string>();
  let open = drafts;
  while (open.length > 0) {
    const written = await writeNewTasks(ctx, nextWave(open, existing).sort(byTaskId));
    for (const [index, result] of written) {
      results.set(index, result);
      if (!(result instanceof DomainError)) existing.add(result.taskId);
    }
    open = open.filter(({ index }) => !results.has(index));
  }
}

/** Returns the same error with the item's index. */
const at = (index: number, { code, message, detail, status }: DomainError) =>
  new DomainError(code, message, { detail, status, extra: { index } });

/**
 * Creates up to 500 tasks; results are at their items' indexes. Validates and creates items in order, as `createTask` would: a
 * later item may name an earlier one's `task_id` as its parent; a repeated `task_id` returns the stored task. With `atomic`, the
 * first error by index rolls everything back (docs/decisions/work.md#bulk-creation).
 * @throws PERMISSION_DENIED an item names a project that the caller may not write to | with `atomic` the first error
 */
export async function createTasksInBulk(ctx: Context, items: unknown[], atomic: boolean): Promise<Result[]> {
  const { drafts, results } = await readItems(items);
  await inTransaction(ctx, async (ctx) => {
    const seats = await keyShareLockProjects(ctx, collectProjects(items));
    for (const seat of seats.values()) authorize('task.write', seat);
    const found = new Map(results);
    await writeInOrder(ctx, drafts, found);
    for (const [index] of items.entries()) {
      const result = found.get(index);
      // The insert sees a role lost after the check above; the whole call is then rejected too.
      const refusesAll = atomic || (result instanceof DomainError && result.code === 'PERMISSION_DENIED');
      if (refusesAll && result instanceof DomainError) throw at(index, result);
    }
    for (const [index, result] of found) results.set(index, result);
  });
  return items.map((_item, index) => results.get(index) as Result);
}
