import { type Endpoint, endpoint } from '../../endpoint/endpoint.js';
import { AutomationParams, SavedAutomation } from '../schema.js';
import { TakeOver } from './schema.js';
import { takeOver } from './take-over.js';

export const ownershipRoutes: Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/api/automations/:automation_id/take-over',
    tag: 'Automations',
    summary: 'Become the creator of an automation',
    description:
      'Later runs, replays too, act as you; runs that have begun keep the creator they started with. Writes a new version and leaves `is_active` as it is: enable what a former member left behind with toggle. Your own automation stays as it is.',
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
