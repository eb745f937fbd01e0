import { run } from '../../db/statement.js';
import { authorize, type Seat } from '../core/access.js';
import { type Context, retrying, whoIs } from '../core/context.js';
import { dateField } from '../core/dates.js';
import { conflict, invalid, notFound } from '../core/errors.js';
import { createTaskStatement } from './create-task.sql.js';
import { MAX_SUBTASK_DEPTH } from './rules.js';
import type { CreateTask } from './schema.js';

interface Outcome {
  project_found: boolean;
  seat: Seat | null;
  assignee_ok: boolean;
  parent_ok: boolean;
  depth_ok: boolean;
  taken: boolean;
  /** The record as JSON text when it was written now. */
  created: string | null;
  /** The record that already has this id. */
  stored: string | null;
  same_project: boolean | null;
  replay: boolean | null;
}

/** The same words whoever owns the id, so that nothing is told of another project's task (contract, section 4, rule 5). */
const idTaken = () => conflict('This task_id is already in use');

/** A task that was created now, or that already stood under the client's id; `json` is its record as JSON text. */
export interface TaskCreation {
  created: boolean;
  taskId: string;
  json: string;
}

/**
 * Creates a task in a live project of the caller's team. A `task_id` of the client's makes it idempotent: the same id in the
 * same project gives the stored task (C6).
 * @throws RESOURCE_NOT_FOUND no live project | PERMISSION_DENIED stranger or guest | INVALID_REQUEST due date, assignee, parent
 * | RESOURCE_CONFLICT the id belongs to something else, or to a task in the trash
 * Source: contract, section 4, tasks rules 1 to 5.
 */
export async function createTask(ctx: Context, input: CreateTask): Promise<TaskCreation> {
  const fields = { ...input, due_date: dateField('due_date', input.due_date) };
  const values = [JSON.stringify(whoIs(ctx)), JSON.stringify(fields), MAX_SUBTASK_DEPTH];
  for (;;) {
    const [outcome] = await retrying(ctx, () => run<Outcome & Record<string, unknown>>(ctx.db, createTaskStatement, values));
    if (!outcome?.project_found) throw notFound('Project');
    authorize('task.write', outcome.seat);
    if (outcome.replay && outcome.stored) return { created: false, taskId: input.task_id as string, json: outcome.stored };
    if (outcome.taken) throw idTaken();
    if (!outcome.assignee_ok) throw invalid('assigned_to must be a member of the project’s team');
    if (!outcome.parent_ok) throw invalid('parent_task_id must be a live task of the same project');
    if (!outcome.depth_ok) throw invalid(`Subtasks nest at most ${MAX_SUBTASK_DEPTH} deep`);
    if (outcome.created) {
      ctx.ring();
      const { task_id } = JSON.parse(outcome.created) as { task_id: string };
      return { created: true, taskId: task_id, json: outcome.created };
    }
    // Another request took the same id between our snapshot and our insert: look again, it can be seen now.
  }
}
