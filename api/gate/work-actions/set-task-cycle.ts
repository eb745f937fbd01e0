import { z } from 'zod';
import { defineStatement, run } from '../../../db/statement.js';
import { Text } from '../../platform/fields.js';
import { findOpenCycle } from '../../work/cycles/find-open-cycle.js';
import { addTasksToCycle } from '../../work/cycles/tasks/add-tasks.js';
import { removeTaskFromCycle } from '../../work/cycles/tasks/remove-task.js';
import { defineAction, REQUESTED } from './action.js';
import { restoreFields } from './undo.js';

/** $1 = task id. */
const statement = defineStatement({ name: 'cycle_of_task', text: 'select cycle_id from tasks where task_id = $1' });

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
    const [task] = await run<{ cycle_id: string | null }>(ctx.db, statement, [task_id]);
    const cycle_id = given.cycle_id === null ? null : await findOpenCycle(ctx, task_id, given.cycle_id);
    if (cycle_id !== null) await addTasksToCycle(ctx, cycle_id, [task_id]);
    else if (task?.cycle_id) await removeTaskFromCycle(ctx, task.cycle_id, task_id);
    return { unchanged: task?.cycle_id === cycle_id, output: { task_id, cycle_id } };
  },
});
