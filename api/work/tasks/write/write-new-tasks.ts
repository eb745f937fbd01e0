import type { Knex } from 'knex';
import { defineStatement, run, type Statement } from '../../../../db/statement.js';
import { checkCallerKind, authorize, rolesFor, type Seat } from '../../../platform/access/access.js';
import { type Context, withRetries, requireUser, callerJson } from '../../../platform/context.js';
import { dateField } from '../../../platform/dates.js';
import { conflict, DomainError, invalid, notFound } from '../../../platform/errors.js';
import type { WriteRequest } from '../../../platform/database/batching/coalesce-writes.js';
import type { TaskColumn } from '../columns.js';
import { MAX_SUBTASK_DEPTH } from '../rules.js';
import type { CreateTask, Task } from '../schema.js';
import { misplacedResolution, type MisplacedStage, misplacedStage } from './misplaced-resolution.js';
import { createTasksOfManyStatement, createTasksStatement } from './write-new-tasks.sql.js';

/** Fields of a new task. Those beyond the schema are set by a recurring series, or by an import. */
export type NewTask = CreateTask & {
  [Name in TaskColumn<'planted'> | 'number' | 'created_at' | 'completed_at']?: Task[Name] | null | undefined;
};

/** A task to create; `index` is its position in the caller's list. */
export interface Draft {
  index: number;
  fields: NewTask;
}

/** A task created now, or one that already existed under the client's id; `json` is its record as JSON text. */
export interface TaskCreation {
  created: boolean;
  taskId: string;
  json: string;
}

interface Outcome {
  index: number;
  task_id: string;
  project_found: boolean;
  seat: Seat | null;
  /** Null counts as false, as in SQL conditions. */
  assignee_ok: boolean | null;
  parent_found: boolean;
  parent_ok: boolean | null;
  depth_ok: boolean;
  /** Why the stage is refused; null if it is not. */
  misplaced: MisplacedStage | null;
  taken: boolean;
  /** Record as JSON text if inserted now. */
  created: string | null;
  /** Existing record with this id. */
  stored: string | null;
  replay: boolean | null;
  /** Whether outbox rows were written. */
  notify: boolean;
}

/**
 * The same message for every owner of the id, so that it reveals nothing about other projects' tasks
 * (docs/decisions/work.md#client-task-ids).
 */
const idTaken = () => conflict('This task_id is already in use');

/**
 * Returns the outcome of one item. Undefined if a concurrent request inserted the same id after our snapshot: retry, the row is
 * now visible.
 * @throws the errors of `createTask`
 */
function settle(outcome: Outcome): TaskCreation | undefined {
  const { task_id: taskId } = outcome;
  if (!outcome.project_found) throw notFound('Project');
  authorize('task.write', outcome.seat);
  if (outcome.replay && outcome.stored) return { created: false, taskId, json: outcome.stored };
  if (outcome.taken) throw idTaken();
  if (!outcome.assignee_ok) throw invalid('assigned_to must be a member of the project’s team');
  if (!outcome.parent_found) throw notFound('Parent task');
  if (!outcome.parent_ok) throw invalid('parent_task_id must be a task of the same project');
  if (!outcome.depth_ok) throw invalid(`Subtasks can be nested at most ${MAX_SUBTASK_DEPTH} deep`);
  if (outcome.misplaced) throw misplacedStage(outcome.misplaced);
  return outcome.created === null ? undefined : { created: true, taskId, json: outcome.created };
}

function settled(outcome: Outcome): TaskCreation | DomainError | undefined {
  try {
    return settle(outcome);
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
}

/** A draft with the position of its caller. */
type Item = Draft & { caller: number };

/**
 * Converts the fields to the statement's input, with normalized dates.
 * @throws INVALID_REQUEST malformed due date | PERMISSION_DENIED a recurring task while impersonating |
 * VALIDATION_ERROR a resolution for a task that is not done
 */
function toStorable({ index, caller, fields }: Item, callers: Context[]): Record<string, unknown> {
  const by = callers[caller];
  // Its occurrences would act as the impersonated user for the life of the series.
  if (by && fields.recurrence) checkCallerKind('task.recur', by.actor);
  if (fields.resolution && fields.status !== 'done') throw misplacedResolution();
  return { ...fields, index, caller, due_date: dateField('due_date', fields.due_date) };
}

/**
 * Writes all items in one statement; a rejected item does not affect the others. Returns the error or the task by index. An index
 * is missing if a concurrent request took its id: retry. Items must not depend on each other, because the statement does not see
 * its own writes.
 */
async function writeItems(
  db: Knex,
  statement: Statement,
  callers: Context[],
  items: Item[],
): Promise<Map<number, TaskCreation | DomainError>> {
  const results = new Map<number, TaskCreation | DomainError>();
  const storable: Record<string, unknown>[] = [];
  for (const item of items) {
    try {
      storable.push(toStorable(item, callers));
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      results.set(item.index, error);
    }
  }
  if (storable.length === 0) return results;
  const values = [JSON.stringify(callers.map(callerJson)), JSON.stringify(storable), MAX_SUBTASK_DEPTH, rolesFor('task.write')];
  const outcomes = await run<Outcome & Record<string, unknown>>(db, statement, values);
  if (outcomes.some(({ notify }) => notify)) callers[0]?.notifyRelay();
  for (const outcome of outcomes) {
    const result = settled(outcome);
    if (result) results.set(outcome.index, result);
  }
  return results;
}

/** Writes one caller's drafts, like `writeItems`. */
export function writeNewTasks(ctx: Context, drafts: Draft[]): Promise<Map<number, TaskCreation | DomainError>> {
  const statement = createTasksStatement(drafts.some(({ fields }) => fields.parent_task_id != null));
  const items = drafts.map((draft) => ({ ...draft, caller: 0 }));
  return withRetries(ctx, () => writeItems(ctx.db, statement, [ctx], items));
}

/** Sorts by id, so that two calls with the same ids cannot deadlock. */
export const byTaskId = (a: Draft, b: Draft): number => {
  const [left, right] = [a.fields.task_id ?? '', b.fields.task_id ?? ''];
  return left < right ? -1 : Number(left > right);
};

/** Writes tasks of several callers, without parents; returns undefined for each one not written, as `coalesceWrites` expects. */
export async function writeTasksOfMany(db: Knex, wanted: WriteRequest<NewTask>[]): Promise<(TaskCreation | undefined)[]> {
  const items = wanted.map(({ item }, index) => ({ index, caller: index, fields: item })).sort(byTaskId);
  const callers = wanted.map(({ ctx }) => ctx);
  const results = await writeItems(db, createTasksOfManyStatement, callers, items);
  return wanted.map((_one, index) => {
    const result = results.get(index);
    return result instanceof DomainError ? undefined : result;
  });
}

/** $1 = project ids, $2 = caller id. Sorted ids, so that two callers cannot deadlock. */
const lockStatement = defineStatement({
  name: 'lock_projects_key_share',
  text: /* sql */ `
    select wanted.project_id, m.role as seat from unnest($1::uuid[]) as wanted(project_id)
    cross join lateral (
      select p.team_id from projects p where p.project_id = wanted.project_id and p.deleted_at is null for key share
    ) p
    left join memberships m on m.team_id = p.team_id and m.user_id = $2`,
});

/**
 * Locks live projects FOR KEY SHARE until the commit, in a separate statement. A concurrent move or deletion in one of them has
 * either finished before the next statement, or waits for this transaction. Returns the caller's role in each.
 */
export async function keyShareLockProjects(ctx: Context, projectIds: Iterable<string>): Promise<Map<string, Seat | null>> {
  const ids = [...new Set(projectIds)].sort();
  const rows = await run<{ project_id: string; seat: Seat | null }>(ctx.db, lockStatement, [ids, requireUser(ctx)]);
  return new Map(rows.map(({ project_id, seat }) => [project_id, seat]));
}
