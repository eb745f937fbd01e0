import type { z } from 'zod';
import { createTask as create } from '../tasks/write/create-task.js';
import { CreateTask } from '../tasks/schema.js';
import type { ActionType } from './contract/action-type.js';
import { DateText } from './fields.js';

const Params = CreateTask.omit({ task_id: true }).extend({ due_date: DateText.nullish() });

export const createTask: ActionType<z.output<typeof Params>> = {
  type: 'create_task',
  label: 'Create a task',
  category: 'core',
  params: Params,
  defaulted: ['project_id'],
  async perform(ctx, params) {
    const { taskId } = await create(ctx, params);
    return { entity_type: 'task', entity_id: taskId, output: { task_id: taskId } };
  },
};
