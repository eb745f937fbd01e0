import { type Endpoint, endpoint } from '../../endpoint/endpoint.js';
import { cancelRun } from '../cancel-run.js';
import { AutomationParams, RunParams } from '../../automations/schema.js';
import { CancelledRun, Dispatched, ExecuteAutomation, ToggleAutomation, Toggled } from './schema.js';
import { executeAutomation } from './execute-automation.js';
import { toggleAutomation } from '../../automations/toggle-automation.js';

const tag = 'Automations';
const scope = 'automations:write';

const setOffRoute = (verb: 'execute' | 'test', summary: string, description: string): Endpoint =>
  endpoint({
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
    errors: [404],
    example: { event: { task: { task_id: 't-1', title: 'Ship it', priority: 'urgent' } } },
    handle: ({ ctx, params, body }) => executeAutomation(ctx, params.automation_id, body, verb === 'test'),
  });

export const dispatchRoutes: Endpoint[] = [
  setOffRoute(
    'execute',
    'Start an automation by hand',
    'Its actions are real, its condition counts, and it need not be active. Shares a limit per person with test and replay.',
  ),
  setOffRoute(
    'test',
    'Play an automation through without effects',
    'The run has `is_test: true`; the output of each action says what it would have done, and gates do not wait.',
  ),
  endpoint({
    method: 'post',
    path: '/api/automations/:automation_id/toggle',
    tag,
    summary: 'Switch an automation on or off',
    description:
      'Makes no version. Runs under way go on, unless `cancel_running` ends them. Enabling is refused with 409 `creator_not_authorized` while its creator may not act in the team: take it over first.',
    ability: 'automation.write',
    scope,
    params: AutomationParams,
    body: ToggleAutomation,
    response: Toggled,
    errors: [404, 409],
    example: { is_active: false, cancel_running: true },
    handle: ({ ctx, params, body }) => toggleAutomation(ctx, params.automation_id, body),
  }),
  endpoint({
    method: 'post',
    path: '/api/automations/runs/:run_id/cancel',
    tag,
    summary: 'Cancel a run that waits or is at work',
    description: 'What it did stays done; nothing more of it happens.',
    ability: 'automation.dispatch',
    scope,
    params: RunParams,
    response: CancelledRun,
    errors: [404, 409],
    handle: ({ ctx, params }) => cancelRun(ctx, params.run_id),
  }),
];
