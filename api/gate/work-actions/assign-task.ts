import { z } from 'zod';
import { Id } from '../../platform/fields.js';
import { updateTask } from '../../work/tasks/write/update-task.js';
import { defineAction, REQUESTED } from './action.js';
import { riskOfTaskUpdate } from './risk.js';
import { restoreFields } from './undo.js';

export const assignTask = defineAction({
  tool: 'task.assign',
  kind: 'update',
  entity: 'task',
  schema: z.strictObject({ assigned_to: Id.nullable().meta({ description: 'null unassigns the task' }) }),
  offered: REQUESTED,
  words: {
    verb: 'Assign',
    count: ['assignment', 'assignments'],
    proposal: 'Proposes who is assigned to a task; null for nobody.',
  },
  risk: riskOfTaskUpdate,
  undo: restoreFields('task.assign'),
  automation: { type: 'assign_task', label: 'Assign a task', defaulted: ['task_id'], clears: true },
  async perform(ctx, task_id, { assigned_to }) {
    return { output: { task_id, assigned_to, version: await updateTask(ctx, task_id, { assigned_to }) } };
  },
});
