import { run, type Statement } from '../../db/statement.js';
import type { Context } from '../core/context.js';
import { notFound } from '../core/errors.js';

/** The task of a comment, as far as comments care; `json` is its record. */
export interface CommentedTask extends Record<string, unknown> {
  task_id: string;
  title: string;
  team_id: string;
  project_id: string;
  json: unknown;
}

const text = /* sql */ `
  select t.task_id, t.title, t.team_id, t.project_id, task_json(t) as json from tasks t
  where t.task_id = $1 and t.deleted_at is null`;
const readStatement: Statement = { name: 'commented_task', text };
/** Whoever trashes a task takes FOR UPDATE on it: none is trashed while a comment is being written. */
const lockStatement: Statement = { name: 'commented_task_held', text: `${text} for key share` };

/** The live task that a comment belongs to, undefined for any other; in a transaction it stays live until the commit. */
export async function findTask(ctx: Context, taskId: string): Promise<CommentedTask | undefined> {
  const [task] = await run<CommentedTask>(ctx.db, ctx.db.isTransaction ? lockStatement : readStatement, [taskId]);
  return task;
}

/** As `findTask`. @throws RESOURCE_NOT_FOUND unknown or in the trash */
export async function loadTask(ctx: Context, taskId: string): Promise<CommentedTask> {
  const task = await findTask(ctx, taskId);
  if (!task) throw notFound('Task');
  return task;
}
