import { CreateTask } from '../../work/tasks/schema.js';
import { createTask as create } from '../../work/tasks/write/create-task.js';
import { defineAction, PLAN_SOURCES } from './action.js';
import { resolveOwnNames, StageName } from './own-names.js';
import { assignmentMatters } from './risk.js';
import { removeMade } from './undo.js';

export const createTask = defineAction({
  tool: 'task.create',
  kind: 'create',
  entity: 'task',
  schema: CreateTask.omit({ task_id: true }).extend({ stage_id: StageName }).strict(),
  references: ['project_id', 'parent_task_id'],
  offered: PLAN_SOURCES.filter((source) => source !== 'overnight_triage'),
  words: { verb: 'Create task', count: ['new task', 'new tasks'], proposal: 'Proposes a new task.' },
  risk: ({ after, userId }) =>
    assignmentMatters(null, after?.['assigned_to'], userId) || after?.['recurrence'] != null ? 'medium' : 'low',
  resolve: (ctx, _id, params) => resolveOwnNames(ctx, params.project_id, params),
  undo: removeMade('task.delete'),
  automation: { type: 'create_task', label: 'Create a task', defaulted: ['project_id'] },
  async perform(ctx, _id, params) {
    const { taskId } = await create(ctx, { ...params, ...(await resolveOwnNames(ctx, params.project_id, params)) });
    return { made: { entity_type: 'task', entity_id: taskId }, output: { task_id: taskId } };
  },
});
