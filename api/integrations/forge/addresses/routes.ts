import { type Endpoint, endpoint, rawEndpoint } from '../../../platform/endpoint/endpoint.js';
import { parseJson } from '../../../platform/endpoint/read-body.js';
import { Accepted, BindingParams } from '../schema.js';
import { makeAddress } from './make-address.js';
import { getAddress } from './read-address.js';
import { admitDelivery, receiveDelivery } from './receive-delivery.js';
import { removeAddress } from './remove-address.js';
import { rotateSecret } from './rotate-secret.js';
import { ForgeAddress, ForgeAddressWithSecret, RemovedAddress, RotateSecret } from './schema.js';

const tag = 'Forge';
const path = '/api/forge/repositories/:binding_id/address';
const write = { tag, ability: 'forge.bind', scope: 'admin:*', params: BindingParams } as const;

export const addressRoutes: Endpoint[] = [
  rawEndpoint({
    id: 'receiveRepositoryDelivery',
    method: 'post',
    path: '/api/forge/webhooks/:binding_id',
    tag,
    summary: 'Receive a delivery of a bound repository',
    description:
      'The address of one binding. Headers and answers are those of `POST /api/forge/webhooks`; the secret is that of the binding. What comes here reaches its team alone, and a delivery of another repository is a 403. An unknown address answers as a wrong signature does.',
    limit: 'forge_address',
    bodyLimit: 10 * 1024 * 1024,
    params: BindingParams,
    response: Accepted,
    errors: [401, 403],
    admit: (request) => admitDelivery(request),
    handle: (request) => receiveDelivery(request, parseJson),
  }),
  endpoint({
    id: 'getRepositoryAddress',
    method: 'get',
    path,
    tag,
    summary: 'Get the address of a binding',
    description: 'Without the secret, which only the response to its creation holds.',
    ability: 'forge.read',
    scope: 'automations:read',
    params: BindingParams,
    response: ForgeAddress,
    errors: [404],
    handle: ({ ctx, params }) => getAddress(ctx, params.binding_id),
  }),
  endpoint({
    ...write,
    id: 'makeRepositoryAddress',
    method: 'post',
    path,
    summary: 'Make the address of a binding',
    description:
      'For a webhook of the repository at the code host. The response holds the secret, once. The user who makes it is among the users behind the runs that its deliveries start.',
    response: ForgeAddressWithSecret,
    status: 201,
    errors: [404, 409],
    storable: false,
    handle: ({ ctx, params }) => makeAddress(ctx, params.binding_id),
  }),
  endpoint({
    ...write,
    id: 'rotateRepositorySecret',
    method: 'post',
    path: `${path}/rotate-secret`,
    summary: 'Rotate the secret of a binding’s address',
    description: 'The response holds the new secret, once. The one before also counts for 24 hours.',
    body: RotateSecret,
    response: ForgeAddressWithSecret,
    errors: [404, 409],
    storable: false,
    example: { replaces: null },
    handle: ({ ctx, params, body }) => rotateSecret(ctx, params.binding_id, body),
  }),
  endpoint({
    ...write,
    id: 'removeRepositoryAddress',
    method: 'delete',
    path,
    summary: 'Remove the address of a binding',
    description: 'Deliveries there are refused from then on. The binding stays.',
    response: RemovedAddress,
    errors: [404],
    async handle({ ctx, params: { binding_id } }) {
      await removeAddress(ctx, binding_id);
      return { success: true, binding_id };
    },
  }),
];
