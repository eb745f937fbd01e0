import { run } from '../../../../db/statement.js';
import { type Context, callerJson } from '../../../platform/context.js';
import { moveSubtasksStatement } from './move-subtasks.sql.js';

/**
 * Moves all descendants of a task to its new project, each with its trace. The caller has locked the subtree
 * (lock-move-target.ts).
 */
export async function moveSubtasks(ctx: Context, taskId: string, projectId: string): Promise<void> {
  await run(ctx.db, moveSubtasksStatement, [JSON.stringify(callerJson(ctx)), taskId, projectId]);
}
