import { z } from 'zod';
import { addTasksToCycle } from '../../work/cycles/tasks/add-tasks.js';
import { Id, TaskId } from '../../platform/fields.js';
import type { ActionType } from '../../gate/contract/action-type.js';

const Params = z.object({
  task_id: TaskId.meta({ description: 'Default: the task of the event' }),
  cycle_id: Id.meta({ description: 'A planned or active cycle of the team and project of the task' }),
});

export const moveToCycle: ActionType<z.output<typeof Params>> = {
  type: 'move_to_cycle',
  label: 'Move a task to a cycle',
  category: 'core',
  params: Params,
  defaulted: ['task_id'],
  async perform(ctx, { task_id, cycle_id }) {
    await addTasksToCycle(ctx, cycle_id, [task_id]);
    return { entity_type: 'task', entity_id: task_id, output: { task_id, cycle_id } };
  },
};
