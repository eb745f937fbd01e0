import type { z } from 'zod';
import { TaskId } from '../core/fields.js';
import { UpdateTask } from '../tasks/schema.js';
import { updateTask as update } from '../tasks/write/update-task.js';
import type { ActionType } from './contract/action-type.js';
import { DateText } from './fields.js';

const Params = UpdateTask.omit({ version: true }).extend({ task_id: TaskId, due_date: DateText.nullable().optional() });

export const updateTask: ActionType<z.output<typeof Params>> = {
  type: 'update_task',
  label: 'Change fields of a task',
  category: 'core',
  params: Params,
  defaulted: ['task_id'],
  clears: true,
  async perform(ctx, { task_id, ...fields }) {
    const version = await update(ctx, task_id, fields);
    return { entity_type: 'task', entity_id: task_id, output: { task_id, version } };
  },
};
