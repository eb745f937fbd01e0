import { z } from 'zod';
import { type Endpoint, endpoint } from '../endpoint/endpoint.js';
import { listActionTypes } from '../actions/list-action-types.js';
import { createAutomation } from './create-automation.js';
import { deleteAutomation } from './delete-automation.js';
import { getAutomation } from './get-automation.js';
import { getRun } from '../runs/get-run.js';
import { listAutomations } from './list-automations.js';
import { listRuns } from '../runs/list-runs.js';
import {
  ActionTypeList,
  AutomationParams,
  AutomationRecord,
  CreateAutomation,
  DeletedAutomation,
  ListAutomations,
  ListRuns,
  ReplaceAutomation,
  RunParams,
  RunRecord,
  RunSummary,
  SavedAutomation,
  TriggerList,
  UpdateAutomation,
} from './schema.js';
import { TRIGGERS } from './language/triggers.js';
import { replacementOf, updateAutomation } from './update-automation.js';

const tag = 'Automations';
const read = { tag, ability: 'automation.read', scope: 'automations:read' } as const;
const write = { tag, ability: 'automation.write', scope: 'automations:write' } as const;

const EXAMPLE = {
  name: 'Deploy on merge',
  trigger_type: 'forge.pr_merged',
  condition: 'has(event.task) && event.task != null',
  actions: [
    { type: 'add_comment', params: { task_id: '{{event.task.task_id}}', content: 'Merged in #{{event.pr_number}}' } },
    { type: 'require_approval', params: { role: 'manager', message: 'Close the task?' } },
    { type: 'set_task_status', params: { status: 'done' } },
  ],
};

/** Paths with fixed words stand before `:automation_id`, which would swallow them. */
const catalogueRoutes: Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/automations/triggers',
    tag,
    summary: 'List what can set off an automation',
    ability: 'automation.catalogue',
    scope: 'automations:read',
    response: TriggerList,
    handle: () => Promise.resolve({ triggers: TRIGGERS }),
  }),
  endpoint({
    method: 'get',
    path: '/api/automations/actions/types',
    tag,
    summary: 'List what an automation can do',
    description: '`task_id` and `project_id` may be left out: the event says which is meant, else the automation.',
    ability: 'automation.catalogue',
    scope: 'automations:read',
    response: ActionTypeList,
    async handle({ ctx }) {
      return { actions: await listActionTypes(ctx) };
    },
  }),
];

const runRoutes: Endpoint[] = [
  endpoint({
    ...read,
    method: 'get',
    path: '/api/automations/runs/:run_id',
    summary: 'Read a run',
    params: RunParams,
    response: RunRecord,
    errors: [404],
    handle: ({ ctx, params }) => getRun(ctx, params.run_id),
  }),
  endpoint({
    ...read,
    method: 'get',
    path: '/api/automations/:automation_id/runs',
    summary: 'List the runs of an automation, newest first',
    params: AutomationParams,
    query: ListRuns,
    response: z.array(RunSummary),
    errors: [404],
    pages: {},
    handle: ({ ctx, params, query }) => listRuns(ctx, params.automation_id, query),
  }),
];

export const automationRoutes: Endpoint[] = [
  ...catalogueRoutes,
  ...runRoutes,
  endpoint({
    method: 'get',
    path: '/api/automations',
    tag,
    summary: 'List automations, oldest first',
    ability: 'automation.list',
    scope: 'automations:read',
    query: ListAutomations,
    response: z.array(AutomationRecord),
    handle: ({ ctx, query }) => listAutomations(ctx, query),
  }),
  endpoint({
    ...write,
    method: 'post',
    path: '/api/automations',
    summary: 'Create an automation',
    description: 'Without `team_id` and `project_id` it is personal: it hears its creator’s events only.',
    body: CreateAutomation,
    response: SavedAutomation,
    status: 201,
    errors: [404],
    example: EXAMPLE,
    handle: ({ ctx, body }) => createAutomation(ctx, body),
  }),
  endpoint({
    ...read,
    method: 'get',
    path: '/api/automations/:automation_id',
    summary: 'Read an automation',
    params: AutomationParams,
    response: AutomationRecord,
    errors: [404],
    handle: ({ ctx, params }) => getAutomation(ctx, params.automation_id),
  }),
  endpoint({
    ...write,
    method: 'put',
    path: '/api/automations/:automation_id',
    summary: 'Replace an automation',
    description:
      'What is left out goes back to its default, but for `is_protected`. Every save makes a version; runs keep the one they started with.',
    params: AutomationParams,
    body: ReplaceAutomation,
    response: SavedAutomation,
    errors: [404, 409],
    example: { ...EXAMPLE, version: 3 },
    handle: ({ ctx, params, body }) => updateAutomation(ctx, params.automation_id, replacementOf(body)),
  }),
  endpoint({
    ...write,
    method: 'patch',
    path: '/api/automations/:automation_id',
    summary: 'Change an automation',
    description: 'Every field is optional; null clears. Every save makes a version; runs keep the one they started with.',
    params: AutomationParams,
    body: UpdateAutomation,
    response: SavedAutomation,
    errors: [404, 409],
    example: { is_active: false, version: 3 },
    handle: ({ ctx, params, body }) => updateAutomation(ctx, params.automation_id, body),
  }),
  endpoint({
    ...write,
    method: 'delete',
    path: '/api/automations/:automation_id',
    summary: 'Delete an automation and cancel its waiting runs',
    params: AutomationParams,
    response: DeletedAutomation,
    errors: [404],
    async handle({ ctx, params }) {
      const { cancelledRuns } = await deleteAutomation(ctx, params.automation_id);
      return { success: true, automation_id: params.automation_id, cancelled_runs: cancelledRuns };
    },
  }),
];
