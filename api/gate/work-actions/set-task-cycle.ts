import { z } from 'zod';
import { defineStatement, run } from '../../../db/statement.js';
import { authorize, type Seat } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { Text } from '../../platform/fields.js';
import { findOpenCycle } from '../../work/cycles/find-open-cycle.js';
import { addTasksToCycle } from '../../work/cycles/tasks/add-tasks.js';
import { removeTaskFromCycle } from '../../work/cycles/tasks/remove-task.js';
import { defineAction, REQUESTED } from './action.js';
import { restoreFields } from './undo.js';

/** $1 = task id, $2 = user id. */
const statement = defineStatement({
  name: 'cycle_of_task',
  text: /* sql */ `
    select t.cycle_id, m.role from tasks t left join memberships m on m.team_id = t.team_id and m.user_id = $2
    where t.task_id = $1 and t.deleted_at is null`,
});

/** @throws RESOURCE_NOT_FOUND no such live task | PERMISSION_DENIED the caller may not change its cycle, which may be what is asked for already */
async function readOwnCycle(ctx: Context, taskId: string): Promise<string | null> {
  const [task] = await run<{ cycle_id: string | null; role: Seat }>(ctx.db, statement, [taskId, requireUser(ctx)]);
  if (!task) throw notFound('Task');
  authorize('cycle.write', task.role);
  return task.cycle_id;
}

export const setTaskCycle = defineAction({
  tool: 'task.set_cycle',
  kind: 'update',
  entity: 'task',
  schema: z.strictObject({
    cycle_id: Text.max(128).nullable().meta({
      description:
        'The id or the name of a planned or active cycle of the team and project of the task, `current`, or `next`; null takes the task out of its cycle',
    }),
  }),
  offered: REQUESTED,
  words: {
    verb: 'Change cycle',
    count: ['change of a cycle', 'changes of cycles'],
    proposal: 'Proposes the cycle of a task; null for none.',
  },
  risk: 'low',
  undo: restoreFields('task.set_cycle'),
  resolve: async (ctx, task_id, { cycle_id }) =>
    cycle_id === null ? {} : { cycle_id: await findOpenCycle(ctx, task_id, cycle_id) },
  async perform(ctx, task_id, given) {
    const before = await readOwnCycle(ctx, task_id);
    const cycle_id = given.cycle_id === null ? null : await findOpenCycle(ctx, task_id, given.cycle_id);
    if (cycle_id !== null) await addTasksToCycle(ctx, cycle_id, [task_id]);
    else if (before !== null) await removeTaskFromCycle(ctx, before, task_id);
    return { unchanged: before === cycle_id, output: { task_id, cycle_id } };
  },
});
