import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';

/** Fields of a task that comments need; `json` is its record. */
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
const readStatement = defineStatement({ name: 'commented_task', text });
/** Deleting a task locks it FOR UPDATE, so it waits until the comment is committed. */
const lockStatement = defineStatement({ name: 'commented_task_held', text: `${text} for key share` });

/** Returns the live task of a comment, or undefined. In a transaction it stays live until the commit. */
export async function findTask(ctx: Context, taskId: string): Promise<CommentedTask | undefined> {
  const [task] = await run<CommentedTask>(ctx.db, ctx.db.isTransaction ? lockStatement : readStatement, [taskId]);
  return task;
}

/** Like `findTask`. @throws RESOURCE_NOT_FOUND unknown or in the trash */
export async function loadTask(ctx: Context, taskId: string): Promise<CommentedTask> {
  const task = await findTask(ctx, taskId);
  if (!task) throw notFound('Task');
  return task;
}
