import { z } from 'zod';
import { Id, TaskId } from '../core/fields.js';
import { updateTask } from '../tasks/write/update-task.js';
import type { ActionType } from './contract/action-type.js';

const Params = z.object({ task_id: TaskId, assigned_to: Id.nullable().meta({ description: 'null unassigns the task' }) });

export const assignTask: ActionType<z.output<typeof Params>> = {
  type: 'assign_task',
  label: 'Assign a task',
  category: 'core',
  params: Params,
  defaulted: ['task_id'],
  clears: true,
  async perform(ctx, { task_id, assigned_to }) {
    const version = await updateTask(ctx, task_id, { assigned_to });
    return { entity_type: 'task', entity_id: task_id, output: { task_id, assigned_to, version } };
  },
};
