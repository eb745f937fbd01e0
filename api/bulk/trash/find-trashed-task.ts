import { defineStatement, run } from '../../../db/statement.js';
import type { Seat } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';

/** $1 = task id, $2 = caller id. */
const statement = defineStatement({
  name: 'find_trashed_task',
  text: /* sql */ `
    select t.task_id, t.title, t.team_id, t.deleted_at, t.deleted_by, m.role as seat from tasks t
    join memberships m on m.team_id = t.team_id and m.user_id = $2 where t.task_id = $1 and t.deleted_at is not null`,
});

/** A task in the trash, with the caller's role in its team. */
interface TrashedTask extends Record<string, unknown> {
  task_id: string;
  title: string;
  team_id: string;
  deleted_at: Date;
  deleted_by: string | null;
  seat: Seat;
}

/** Returns a task that is in the trash of one of the caller's teams; undefined for any other. */
export async function findTrashedTask(ctx: Context, taskId: string): Promise<TrashedTask | undefined> {
  return (await run<TrashedTask>(ctx.db, statement, [taskId, requireUser(ctx)]))[0];
}
