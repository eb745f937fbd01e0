import { z } from 'zod';
import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { callbackPage } from './callback-page.js';
import { completeConnection } from './complete-connection.js';
import { connect } from './connect.js';
import { disconnect } from './disconnect.js';
import { listIntegrations } from './list-integrations.js';
import { AuthorizeAddress, Callback, Connect, Disconnected, Integration, IntegrationParams } from './schema.js';

const tag = 'Integrations';

export const integrationRoutes: Endpoint[] = [
  endpoint({
    id: 'listIntegrations',
    method: 'get',
    path: '/api/integrations',
    tag,
    summary: 'List integrations',
    ability: 'integration.list',
    scope: 'automations:read',
    response: z.array(Integration),
    handle: ({ ctx }) => listIntegrations(ctx),
  }),
  endpoint({
    id: 'connectIntegration',
    method: 'post',
    path: '/api/integrations/:key/connect',
    tag,
    summary: 'Start a connection',
    description:
      'Open `authorize_url` within ten minutes in a browser where you are signed in to the web app. Automations that you created then act with your account at the service.',
    ability: 'integration.connect',
    scope: 'automations:write',
    params: IntegrationParams,
    body: Connect,
    response: AuthorizeAddress,
    errors: [404, 409],
    storable: false,
    example: { scopes: ['repo'] },
    async handle({ ctx, params, body }) {
      return { authorize_url: await connect(ctx, params.key, body) };
    },
  }),
  endpoint({
    id: 'completeConnection',
    method: 'get',
    path: '/api/integrations/:key/callback',
    tag,
    summary: 'OAuth callback',
    description: 'Returns an HTML page for the browser of the user who started the connection. The `state` works once.',
    ability: 'public',
    params: IntegrationParams,
    query: Callback,
    response: z.string(),
    page: true,
    errors: [404],
    handle: async ({ ctx, params, query, browserUserId }) =>
      callbackPage(await completeConnection(ctx, params.key, query, await browserUserId())),
  }),
  endpoint({
    id: 'disconnectIntegration',
    method: 'delete',
    path: '/api/integrations/:key',
    tag,
    summary: 'Disconnect a service',
    ability: 'integration.connect',
    scope: 'automations:write',
    params: IntegrationParams,
    response: Disconnected,
    errors: [404],
    async handle({ ctx, params }) {
      await disconnect(ctx, params.key);
      return { success: true, key: params.key };
    },
  }),
];
