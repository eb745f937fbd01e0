import { type Endpoint, endpoint } from '../../../platform/endpoint/endpoint.js';
import { cancelRun } from '../cancel-run.js';
import { AutomationParams } from '../../definitions/schema.js';
import { RunParams } from '../schema.js';
import { CancelledRun, Dispatched, ExecuteAutomation } from './schema.js';
import { executeAutomation } from './execute-automation.js';

const tag = 'Automations';
const scope = 'automations:write';

const dispatchRoute = (verb: 'execute' | 'test', summary: string, description: string): Endpoint =>
  endpoint({
    id: `${verb}Automation`,
    method: 'post',
    path: `/api/automations/:automation_id/${verb}`,
    tag,
    summary,
    description,
    ability: 'automation.dispatch',
    scope,
    limit: 'automation_dispatch',
    params: AutomationParams,
    body: ExecuteAutomation,
    response: Dispatched,
    status: 202,
    errors: [404, 409],
    example: { event: { task: { task_id: 't-1', title: 'Ship it', priority: 'urgent' } }, version: 3 },
    handle: ({ ctx, params, body }) => executeAutomation(ctx, params.automation_id, body, verb === 'test'),
  });

export const dispatchRoutes: Endpoint[] = [
  dispatchRoute(
    'execute',
    'Start a run manually',
    'The condition is evaluated and actions have side effects; the automation need not be enabled. Shares a rate limit per user with test and replay.',
  ),
  dispatchRoute(
    'test',
    'Test an automation',
    'A dry run without side effects, with `is_test: true`. The output of each action shows what it would do; gates do not wait.',
  ),
  endpoint({
    id: 'cancelRun',
    method: 'post',
    path: '/api/automations/runs/:run_id/cancel',
    tag,
    summary: 'Cancel a run that is active',
    description: 'Completed actions are not undone; no further action runs.',
    ability: 'automation.dispatch',
    scope,
    params: RunParams,
    response: CancelledRun,
    errors: [404, 409],
    handle: ({ ctx, params }) => cancelRun(ctx, params.run_id),
  }),
];
