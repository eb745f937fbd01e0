import { type Endpoint, endpoint, rawEndpoint } from '../../platform/endpoint/endpoint.js';
import { AutomationParams } from '../definitions/schema.js';
import { makeAddress } from './make-address.js';
import { getHook } from './read-hook.js';
import { receiveCall } from './receive-call.js';
import { removeAddress } from './remove-address.js';
import { AcceptedCall, HookParams, HookRecord, MakeAddress, NewAddress, RemovedHook } from './schema.js';

const tag = 'Automations';
const path = '/api/automations/:automation_id/hook';
const write = { tag, ability: 'automation.write', scope: 'automations:write', params: AutomationParams, path } as const;

export const hookRoutes: Endpoint[] = [
  rawEndpoint({
    id: 'callHook',
    method: 'post',
    path: '/api/hooks/:token',
    tag,
    summary: 'Start an automation by its address',
    description:
      'Needs no credential but the address, and a signature of Standard Webhooks if its maker asked for one; `webhook-id` is then the key. The JSON or form that is sent, 64 kB at most, is `event.body`. With `Idempotency-Key` or `webhook-id` a repetition within 24 hours starts nothing twice. 202 says that the call was accepted, whether or not the condition holds.',
    open: true,
    limit: 'automation_hook',
    bodyLimit: 64 * 1024,
    params: HookParams,
    response: AcceptedCall,
    status: 202,
    errors: [401, 404],
    example: { title: 'Checkout is slow', severity: 'high' },
    handle: (request) => receiveCall(request),
  }),
  endpoint({
    id: 'getAutomationHook',
    method: 'get',
    path,
    tag,
    summary: 'Get the address of an automation',
    description: 'Without the token, which only the response to its creation holds.',
    ability: 'automation.read',
    scope: 'automations:read',
    params: AutomationParams,
    response: HookRecord,
    errors: [404],
    handle: ({ ctx, params }) => getHook(ctx, params.automation_id),
  }),
  endpoint({
    ...write,
    id: 'makeAutomationHook',
    method: 'post',
    summary: 'Make or replace the address of an automation',
    description: 'For the trigger `webhook`. The response holds the address, once; one before it stops working.',
    body: MakeAddress,
    response: NewAddress,
    status: 201,
    errors: [404, 409],
    storable: false,
    example: { replaces: null, signed: false },
    handle: ({ ctx, params, body }) => makeAddress(ctx, params.automation_id, body),
  }),
  endpoint({
    ...write,
    id: 'removeAutomationHook',
    method: 'delete',
    summary: 'Remove the address of an automation',
    response: RemovedHook,
    errors: [404],
    async handle({ ctx, params: { automation_id } }) {
      await removeAddress(ctx, automation_id);
      return { success: true, automation_id };
    },
  }),
];
