import { z } from 'zod';
import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { listActionTypes } from '../actions/list-action-types.js';
import { createAutomation } from './create-automation.js';
import { deleteAutomation } from './delete-automation.js';
import { getAutomation } from './get-automation.js';
import { listAutomations } from './list-automations.js';
import {
  ActionTypeList,
  AutomationParams,
  AutomationRecord,
  CreateAutomation,
  DeletedAutomation,
  ListAutomations,
  ReplaceAutomation,
  SavedAutomation,
  ToggleAutomation,
  Toggled,
  TriggerList,
  UpdateAutomation,
} from './schema.js';
import { TRIGGERS } from '../language/triggers.js';
import { toggleAutomation } from './toggle-automation.js';
import { buildReplacement, updateAutomation } from './update-automation.js';

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

/** Fixed paths precede `:automation_id`, which would match them. */
const catalogueRoutes: Endpoint[] = [
  endpoint({
    id: 'listTriggers',
    method: 'get',
    path: '/api/automations/triggers',
    tag,
    summary: 'List triggers',
    ability: 'automation.catalogue',
    scope: 'automations:read',
    response: TriggerList,
    handle: () => Promise.resolve({ triggers: TRIGGERS }),
  }),
  endpoint({
    id: 'listActionTypes',
    method: 'get',
    path: '/api/automations/actions/types',
    tag,
    summary: 'List action types',
    description: '`task_id` and `project_id` are optional: they default to those of the event, then of the automation.',
    ability: 'automation.catalogue',
    scope: 'automations:read',
    response: ActionTypeList,
    async handle({ ctx }) {
      return { actions: await listActionTypes(ctx) };
    },
  }),
];

export const automationRoutes: Endpoint[] = [
  ...catalogueRoutes,
  endpoint({
    id: 'listAutomations',
    method: 'get',
    path: '/api/automations',
    tag,
    summary: 'List automations',
    ability: 'automation.list',
    scope: 'automations:read',
    description: 'Oldest first. Without `limit` all of them, up to 10 MB.',
    query: ListAutomations,
    response: z.array(AutomationRecord),
    pages: { batch: 10 },
    handle: ({ ctx, query }) => listAutomations(ctx, query),
  }),
  endpoint({
    ...write,
    id: 'createAutomation',
    method: 'post',
    path: '/api/automations',
    summary: 'Create an automation',
    description: 'Without `team_id` and `project_id` it is personal: only events of its creator match.',
    body: CreateAutomation,
    response: SavedAutomation,
    status: 201,
    errors: [404],
    example: EXAMPLE,
    handle: ({ ctx, body }) => createAutomation(ctx, body),
  }),
  endpoint({
    ...read,
    id: 'getAutomation',
    method: 'get',
    path: '/api/automations/:automation_id',
    summary: 'Get an automation',
    params: AutomationParams,
    response: AutomationRecord,
    errors: [404],
    handle: ({ ctx, params }) => getAutomation(ctx, params.automation_id),
  }),
  endpoint({
    ...write,
    id: 'replaceAutomation',
    method: 'put',
    path: '/api/automations/:automation_id',
    summary: 'Replace an automation',
    description:
      'An omitted field is reset to its default, except `is_protected`. Every save creates a version; active runs keep theirs.',
    params: AutomationParams,
    body: ReplaceAutomation,
    response: SavedAutomation,
    errors: [404, 409],
    example: { ...EXAMPLE, version: 3 },
    handle: ({ ctx, params, body }) => updateAutomation(ctx, params.automation_id, buildReplacement(body)),
  }),
  endpoint({
    ...write,
    id: 'updateAutomation',
    method: 'patch',
    path: '/api/automations/:automation_id',
    summary: 'Update an automation',
    description: 'Every field is optional; null clears. Every save creates a version; active runs keep theirs.',
    params: AutomationParams,
    body: UpdateAutomation,
    response: SavedAutomation,
    errors: [404, 409],
    example: { is_active: false, version: 3 },
    handle: ({ ctx, params, body }) => updateAutomation(ctx, params.automation_id, body),
  }),
  endpoint({
    ...write,
    id: 'deleteAutomation',
    method: 'delete',
    path: '/api/automations/:automation_id',
    summary: 'Delete an automation',
    params: AutomationParams,
    response: DeletedAutomation,
    errors: [404],
    async handle({ ctx, params }) {
      const { cancelledRuns } = await deleteAutomation(ctx, params.automation_id);
      return { success: true, automation_id: params.automation_id, cancelled_runs: cancelledRuns };
    },
  }),
  endpoint({
    ...write,
    id: 'toggleAutomation',
    method: 'post',
    path: '/api/automations/:automation_id/toggle',
    summary: 'Enable or disable an automation',
    description:
      'Creates no version. Active runs continue unless `cancel_running` is set. Enabling is a 409 `creator_not_authorized` while the creator may not act in the team: take it over first.',
    params: AutomationParams,
    body: ToggleAutomation,
    response: Toggled,
    errors: [404, 409],
    example: { is_active: false, cancel_running: true },
    handle: ({ ctx, params, body }) => toggleAutomation(ctx, params.automation_id, body),
  }),
];
