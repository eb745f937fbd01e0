import { run, type Statement } from '../../db/statement.js';
import type { Context } from '../core/context.js';

/** Where a task is, in the trash or not. */
export interface Place extends Record<string, unknown> {
  team_id: string;
  project_id: string;
  name: string;
  /** The project itself is in the trash. */
  in_trash: boolean;
}

const statement: Statement = {
  name: 'place_of_task',
  text: /* sql */ `
    select p.team_id, p.project_id, p.name, p.deleted_at is not null as in_trash
    from projects p join tasks t using (project_id) where t.task_id = $1 for update of p`,
};

/**
 * The project of a task, locked until the commit. Every change of a project's tree in or out of the trash takes this lock first,
 * in a statement of its own: what is read after it stands until the commit. Undefined: there is no such task.
 */
export async function holdPlace(ctx: Context, taskId: string): Promise<Place | undefined> {
  return (await run<Place>(ctx.db, statement, [taskId]))[0];
}
