import { run } from '../../../../db/statement.js';
import { rolesFor } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { surroundingsStatement } from './read-surroundings.sql.js';

/** A task as others name it. */
interface Named {
  team_id: string;
  number: number | null;
  title: string;
}

/** What is around a task. */
export interface Surroundings extends Record<string, unknown> {
  task_id: string;
  /** Subtasks, and those of them that are done. */
  total: number;
  done: number;
  comments: number;
  parent: Named | null;
  /** An open task that blocks it, which the caller may read. */
  blocker: Named | null;
}

/** Reads what is around tasks, in one query: at most 100 subtasks and comments, and 200 blocks, of each. Tasks that the caller may not read are absent. */
export async function readSurroundings(ctx: Context, taskIds: readonly string[]): Promise<Map<string, Surroundings>> {
  if (taskIds.length === 0) return new Map();
  const rows = await run<Surroundings>(ctx.db, surroundingsStatement, [taskIds, requireUser(ctx), rolesFor('task.read')]);
  return new Map(rows.map((row) => [row.task_id, row]));
}
