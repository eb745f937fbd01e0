import { z } from 'zod';
import { type Endpoint, endpoint, rawEndpoint, Reply } from '../../platform/endpoint/endpoint.js';
import { parseJson } from '../../platform/endpoint/read-body.js';
import { acceptDelivery } from './deliveries/accept-delivery.js';
import { bindRepository } from './bindings/bind-repository.js';
import { linkIssue } from './links/link-issue.js';
import { listDeliveries } from './deliveries/list-deliveries.js';
import { listRepositories } from './bindings/list-repositories.js';
import {
  Accepted,
  BindingParams,
  BindRepository,
  ForgeDelivery,
  ForgeLink,
  LinkIssue,
  LinkParams,
  ListDeliveries,
  ListRepositories,
  RepositoryBinding,
  UnboundRepository,
  WebhookStatus,
} from './schema.js';
import { unbindRepository } from './bindings/unbind-repository.js';
import { webhookStatus } from './deliveries/webhook-status.js';

const tag = 'Forge';

const webhook: Endpoint[] = [
  rawEndpoint({
    id: 'receiveForgeDelivery',
    formerId: 'receiveWebhook',
    method: 'post',
    path: '/api/forge/webhooks',
    tag,
    summary: 'Receive a delivery of the code host',
    description:
      'Headers: `X-Forge-Event` and `X-Forge-Delivery` (or `X-GitHub-Event`, `X-GitHub-Delivery`), and `X-Hub-Signature-256: sha256=<hex>`, the HMAC-SHA256 of the raw body with the shared secret. 200 means accepted, not applied; a duplicate delivery id is ignored.',
    limit: 'forge_webhook',
    bodyLimit: 10 * 1024 * 1024,
    response: Accepted,
    errors: [401],
    handle: (request) => acceptDelivery(request, parseJson),
  }),
  endpoint({
    id: 'getForgeStatus',
    formerId: 'getWebhookStatus',
    method: 'get',
    path: '/api/forge/webhooks/status',
    tag,
    summary: 'Get the status of deliveries of the code host',
    ability: 'forge.status',
    scope: 'automations:read',
    response: WebhookStatus,
    handle: ({ ctx }) => webhookStatus(ctx),
  }),
  endpoint({
    id: 'listForgeDeliveries',
    formerId: 'listDeliveries',
    method: 'get',
    path: '/api/forge/deliveries',
    tag,
    summary: 'List deliveries of the code host',
    ability: 'forge.read',
    scope: 'automations:read',
    query: ListDeliveries,
    response: z.array(ForgeDelivery),
    errors: [404],
    handle: ({ ctx, query }) => listDeliveries(ctx, query),
  }),
];

export const forgeRoutes: Endpoint[] = [
  ...webhook,
  endpoint({
    id: 'listRepositories',
    method: 'get',
    path: '/api/forge/repositories',
    tag,
    summary: 'List repository bindings',
    ability: 'forge.read',
    scope: 'automations:read',
    query: ListRepositories,
    response: z.array(RepositoryBinding),
    errors: [404],
    handle: ({ ctx, query }) => listRepositories(ctx, query),
  }),
  endpoint({
    id: 'bindRepository',
    method: 'post',
    path: '/api/forge/repositories',
    tag,
    summary: 'Bind a repository',
    description:
      'Once a repository is bound, only its teams receive its events, beginning with the next delivery. In production (`FORGE_BINDING=verified`) your connected account needs push access to the repository; an instance admin needs none. 403 names the missing proof; 503 means that the code host does not respond. Binding it to a second team requires an instance admin.',
    ability: 'forge.bind',
    scope: 'admin:*',
    body: BindRepository,
    response: RepositoryBinding,
    status: 201,
    errors: [404, 409],
    example: {
      repo: 'acme/rocket',
      team_id: '019a9f00-0000-7000-8000-000000000001',
      project_id: '019a9f00-0000-7000-8000-000000000002',
      sync_issues: true,
    },
    handle: ({ ctx, body }) => bindRepository(ctx, body),
  }),
  endpoint({
    id: 'unbindRepository',
    method: 'delete',
    path: '/api/forge/repositories/:binding_id',
    tag,
    summary: 'Unbind a repository',
    ability: 'forge.bind',
    scope: 'admin:*',
    params: BindingParams,
    response: UnboundRepository,
    errors: [404],
    async handle({ ctx, params }) {
      await unbindRepository(ctx, params.binding_id);
      return { success: true, binding_id: params.binding_id };
    },
  }),
  endpoint({
    id: 'createForgeLink',
    method: 'post',
    path: '/api/tasks/:task_id/forge-links',
    tag,
    summary: 'Link a task to an issue',
    description: 'Returns 200 if the link already exists.',
    ability: 'forge.link',
    scope: 'tasks:write',
    params: LinkParams,
    body: LinkIssue,
    response: ForgeLink,
    status: 201,
    alsoStatus: [200],
    errors: [404],
    example: { repo: 'acme/rocket', issue_number: 7 },
    async handle({ ctx, params, body }) {
      const { created, link } = await linkIssue(ctx, params.task_id, body);
      return new Reply(link, { status: created ? 201 : 200 });
    },
  }),
];
