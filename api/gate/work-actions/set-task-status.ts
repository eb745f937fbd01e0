import { z } from 'zod';
import { TaskResolution, TaskStatus } from '../../work/tasks/columns.js';
import { updateTask } from '../../work/tasks/write/update-task.js';
import { defineAction, PLAN_SOURCES } from './action.js';
import { riskOfTaskUpdate } from './risk.js';
import { restoreFields } from './undo.js';

export const setTaskStatus = defineAction({
  tool: 'task.set_status',
  kind: 'update',
  entity: 'task',
  schema: z.strictObject({ status: TaskStatus, resolution: TaskResolution }),
  offered: PLAN_SOURCES.filter((source) => source !== 'overnight_triage'),
  words: { verb: 'Change status', count: ['status change', 'status changes'], proposal: 'Proposes a status for a task.' },
  risk: riskOfTaskUpdate,
  // A task of which only the resolution changed was done before too; the status of a stage follows from it.
  undo: ({ before, ...action }) =>
    restoreFields(before?.['stage_id'] ? 'task.update' : 'task.set_status')({
      ...action,
      before: before && 'resolution' in before ? { status: 'done', ...before } : before,
    }),
  automation: { type: 'set_task_status', label: 'Set the status of a task', defaulted: ['task_id'] },
  async perform(ctx, task_id, params) {
    return { output: { task_id, status: params.status, version: await updateTask(ctx, task_id, params) } };
  },
});
