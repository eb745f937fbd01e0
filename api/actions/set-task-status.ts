import { z } from 'zod';
import { TaskId } from '../core/fields.js';
import { TaskStatus } from '../tasks/schema.js';
import { updateTask } from '../tasks/write/update-task.js';
import type { ActionType } from './contract/action-type.js';

const Params = z.object({ task_id: TaskId, status: TaskStatus });

export const setTaskStatus: ActionType<z.output<typeof Params>> = {
  type: 'set_task_status',
  label: 'Set the status of a task',
  category: 'core',
  params: Params,
  defaulted: ['task_id'],
  async perform(ctx, { task_id, status }) {
    const version = await updateTask(ctx, task_id, { status });
    return { entity_type: 'task', entity_id: task_id, output: { task_id, status, version } };
  },
};
