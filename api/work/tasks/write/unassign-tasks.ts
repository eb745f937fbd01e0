import { run } from '../../../../db/statement.js';
import { type Context, callerJson } from '../../../platform/context.js';
import { lockOpenTasksStatement, unassignTasksStatement } from './unassign-tasks.sql.js';

/** Locks the open tasks of a user who is leaving the team; call it before locking the membership. */
export async function lockAssignedTasks(ctx: Context, teamId: string, userId: string): Promise<void> {
  await run(ctx.db, lockOpenTasksStatement, [teamId, userId]);
}

/**
 * Reassigns a user's open tasks in a team to `successor`, or unassigns them, and records each change. Returns the number of live
 * ones.
 */
export async function unassignTasks(ctx: Context, teamId: string, userId: string, successor: string | null): Promise<number> {
  const values = [JSON.stringify(callerJson(ctx)), teamId, userId, successor];
  const [row] = await run<{ live: number }>(ctx.db, unassignTasksStatement, values);
  return row?.live ?? 0;
}
