import { type Endpoint, endpoint } from '../../../platform/endpoint/endpoint.js';
import { AutomationParams, SavedAutomation } from '../schema.js';
import { TakeOver } from './schema.js';
import { takeOver } from './take-over.js';

export const ownershipRoutes: Endpoint[] = [
  endpoint({
    id: 'takeOverAutomation',
    method: 'post',
    path: '/api/automations/:automation_id/take-over',
    tag: 'Automations',
    summary: 'Take over an automation',
    description:
      'Later runs and replays act as you; active runs keep their creator. Writes a new version and keeps `is_active`: enable the automation of a former member with toggle. Your own automation is not changed.',
    ability: 'automation.take_over',
    scope: 'automations:write',
    params: AutomationParams,
    body: TakeOver,
    response: SavedAutomation,
    errors: [404, 409],
    example: { version: 3 },
    handle: ({ ctx, params, body }) => takeOver(ctx, params.automation_id, body),
  }),
];
