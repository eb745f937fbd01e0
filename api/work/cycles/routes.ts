import { z } from 'zod';
import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { completeCycle } from './completion/complete-cycle.js';
import { getReport } from './completion/get-report.js';
import { createCycle } from './create-cycle.js';
import { deleteCycle } from './delete-cycle.js';
import { listCycles } from './list-cycles.js';
import { readCycle } from './read-cycle.js';
import {
  AddTasks,
  CompleteCycle,
  CreateCycle,
  Cycle,
  CycleParams,
  CycleReport,
  CycleTaskParams,
  DeletedCycle,
  ListCycles,
  RemovedTask,
  UpdateCycle,
} from './schema.js';
import { startCycle } from './start-cycle.js';
import { addTasksToCycle } from './tasks/add-tasks.js';
import { removeTaskFromCycle } from './tasks/remove-task.js';
import { updateCycle } from './update-cycle.js';

const read = { tag: 'Cycles', ability: 'cycle.read', scope: 'tasks:read' } as const;
const write = { tag: 'Cycles', ability: 'cycle.write', scope: 'tasks:write' } as const;

const records: Endpoint[] = [
  endpoint({
    ...read,
    id: 'listCycles',
    method: 'get',
    path: '/api/sprints',
    summary: 'List cycles',
    description: 'Those of a team, oldest first.',
    ability: 'cycle.list',
    query: ListCycles,
    response: z.array(Cycle),
    handle: ({ ctx, query }) => listCycles(ctx, query),
  }),
  endpoint({
    ...write,
    id: 'createCycle',
    method: 'post',
    path: '/api/sprints',
    summary: 'Create a cycle',
    description: 'It is planned until it is started. Of each team and project, one cycle is active at a time.',
    body: CreateCycle,
    response: Cycle,
    status: 201,
    errors: [404],
    example: {
      name: 'Cycle 12',
      goal: 'Sign-in works on every browser',
      project_id: '019a9f00-0000-7000-8000-000000000003',
      start_date: '2026-11-09',
      end_date: '2026-11-20',
    },
    handle: ({ ctx, body }) => createCycle(ctx, body),
  }),
  endpoint({
    ...read,
    id: 'getCycle',
    method: 'get',
    path: '/api/sprints/:cycle_id',
    summary: 'Get a cycle',
    params: CycleParams,
    response: Cycle,
    errors: [404],
    handle: ({ ctx, params }) => readCycle(ctx, 'cycle.read', params.cycle_id),
  }),
  endpoint({
    ...write,
    id: 'updateCycle',
    method: 'patch',
    path: '/api/sprints/:cycle_id',
    summary: 'Update a cycle',
    description: 'null clears. `status` changes by starting and completing only. The dates of a completed cycle are a 409.',
    params: CycleParams,
    body: UpdateCycle,
    response: Cycle,
    errors: [404, 409],
    example: { end_date: '2026-11-27' },
    handle: ({ ctx, params, body }) => updateCycle(ctx, params.cycle_id, body),
  }),
  endpoint({
    ...write,
    id: 'deleteCycle',
    method: 'delete',
    path: '/api/sprints/:cycle_id',
    summary: 'Delete a planned cycle',
    description: 'Permanent; its tasks go to the backlog. An active or completed cycle is a 409.',
    params: CycleParams,
    response: DeletedCycle,
    errors: [404, 409],
    async handle({ ctx, params: { cycle_id } }) {
      await deleteCycle(ctx, cycle_id);
      return { success: true, cycle_id };
    },
  }),
];

const tasks: Endpoint[] = [
  endpoint({
    ...write,
    id: 'addTasksToCycle',
    method: 'post',
    path: '/api/sprints/:cycle_id/tasks',
    summary: 'Add tasks to a cycle',
    description:
      'All or none, without their subtasks. A task is in one cycle, so it leaves the one where it was. At most 10,000 tasks a cycle; a completed one is a 409.',
    params: CycleParams,
    body: AddTasks,
    response: Cycle,
    errors: [404, 409],
    example: { task_ids: ['TASK-123'] },
    handle: ({ ctx, params, body }) => addTasksToCycle(ctx, params.cycle_id, body.task_ids),
  }),
  endpoint({
    ...write,
    id: 'removeTaskFromCycle',
    method: 'delete',
    path: '/api/sprints/:cycle_id/tasks/:task_id',
    summary: 'Take a task out of a cycle',
    params: CycleTaskParams,
    response: RemovedTask,
    errors: [404, 409],
    async handle({ ctx, params: { cycle_id, task_id } }) {
      await removeTaskFromCycle(ctx, cycle_id, task_id);
      return { success: true, task_id };
    },
  }),
];

const course: Endpoint[] = [
  endpoint({
    ...write,
    id: 'startCycle',
    method: 'post',
    path: '/api/sprints/:cycle_id/start',
    summary: 'Start a cycle',
    description: 'Its tasks of this moment are what it commits to. 409 while another cycle of the team and project is active.',
    params: CycleParams,
    response: Cycle,
    errors: [404, 409],
    handle: ({ ctx, params }) => startCycle(ctx, params.cycle_id),
  }),
  endpoint({
    ...write,
    id: 'completeCycle',
    method: 'post',
    path: '/api/sprints/:cycle_id/complete',
    summary: 'Complete a cycle',
    description:
      'Freezes `snapshot`, then moves the open tasks without subtasks, all in one transaction. Completed tasks stay, and parents without `include_parents`. Only an active cycle can be completed (409).',
    params: CycleParams,
    body: CompleteCycle,
    response: Cycle,
    errors: [404, 409],
    example: { rollover_to: 'next' },
    handle: ({ ctx, params, body }) => completeCycle(ctx, params.cycle_id, body),
  }),
  endpoint({
    ...read,
    id: 'getCycleReport',
    method: 'get',
    path: '/api/sprints/:cycle_id/report',
    summary: 'Get the report of a cycle',
    description:
      'Figures and burn-down: of now while the cycle is active, frozen once it is completed. Tasks with subtasks do not count.',
    params: CycleParams,
    response: CycleReport,
    errors: [404],
    handle: ({ ctx, params }) => getReport(ctx, params.cycle_id),
  }),
];

/** Cycles, their tasks, their start and completion. The contract calls their address sprints. */
export const cycleRoutes: Endpoint[] = [...records, ...tasks, ...course];
