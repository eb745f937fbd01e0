import { run } from '../../../../db/statement.js';
import { callerJson, type Context } from '../../../platform/context.js';
import { conflict } from '../../../platform/errors.js';
import { MAX_TASKS_PER_CYCLE } from '../rules.js';
import { countTasksStatement, enterCycleStatement, moveTasksStatement } from './tasks-of-cycle.sql.js';

export interface TaskMove {
  team_id: string;
  /** The new cycle; null for none. */
  to: string | null;
  /** If the cycle that they leave is being completed: whether its figures count them as carried over. */
  completes?: 'carried_over' | 'uncounted';
}

/**
 * Moves locked tasks of one team into a cycle or out of one, each with its trace; the cycle is locked too. Those already there stay as
 * they are. Returns the number moved. A completion writes one line of activity, not one for each task.
 * @throws RESOURCE_CONFLICT the cycle would have too many tasks
 */
export async function moveTasks(ctx: Context, taskIds: readonly string[], { team_id, to, completes }: TaskMove): Promise<number> {
  if (taskIds.length === 0) return 0;
  const { actor } = ctx;
  const userId = actor.type === 'system' ? null : actor.userId;
  const [moved] = await run<{ task_ids: string[] }>(ctx.db, moveTasksStatement, [
    JSON.stringify(callerJson(ctx)),
    taskIds,
    to,
    team_id,
    completes === 'carried_over' ? completes : null,
    completes === undefined,
    userId,
  ]);
  const ids = moved?.task_ids ?? [];
  if (to === null || ids.length === 0) return ids.length;
  const [held] = await run<{ count: number }>(ctx.db, countTasksStatement, [to]);
  if ((held?.count ?? 0) > MAX_TASKS_PER_CYCLE) {
    throw conflict(`A cycle has at most ${MAX_TASKS_PER_CYCLE.toLocaleString('en-US')} tasks`);
  }
  await run(ctx.db, enterCycleStatement, [to, ids]);
  return ids.length;
}
