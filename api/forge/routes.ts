import { z } from 'zod';
import { type Endpoint, endpoint, rawEndpoint, Reply } from '../endpoint/endpoint.js';
import { parseJson } from '../endpoint/read-body.js';
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
    method: 'post',
    path: '/api/forge/webhooks',
    tag,
    summary: 'Take in a delivery of a code-hosting platform',
    description:
      'Headers: `X-Forge-Event` and `X-Forge-Delivery` (or `X-GitHub-Event`, `X-GitHub-Delivery`), and `X-Hub-Signature-256: sha256=<hex>`, the HMAC-SHA256 of the raw body with the shared secret. 200 means accepted, not applied; a delivery id that was handled already is dropped.',
    limit: 'forge_webhook',
    bodyLimit: 10 * 1024 * 1024,
    response: Accepted,
    errors: [401],
    handle: (request) => acceptDelivery(request, parseJson),
  }),
  endpoint({
    method: 'get',
    path: '/api/forge/webhooks/status',
    tag,
    summary: 'Whether deliveries can arrive, and what has arrived',
    ability: 'forge.status',
    scope: 'automations:read',
    response: WebhookStatus,
    handle: ({ ctx }) => webhookStatus(ctx),
  }),
  endpoint({
    method: 'get',
    path: '/api/forge/deliveries',
    tag,
    summary: 'List what came from the team’s repositories, newest first',
    ability: 'forge.read',
    scope: 'automations:read',
    query: ListDeliveries,
    response: z.array(ForgeDelivery),
    errors: [404],
    pages: {},
    handle: ({ ctx, query }) => listDeliveries(ctx, query),
  }),
];

export const forgeRoutes: Endpoint[] = [
  ...webhook,
  endpoint({
    method: 'get',
    path: '/api/forge/repositories',
    tag,
    summary: 'List the team’s repository bindings',
    ability: 'forge.read',
    scope: 'automations:read',
    query: ListRepositories,
    response: z.array(RepositoryBinding),
    errors: [404],
    handle: ({ ctx, query }) => listRepositories(ctx, query.team_id),
  }),
  endpoint({
    method: 'post',
    path: '/api/forge/repositories',
    tag,
    summary: 'Bind a repository to a team',
    description:
      'Once a repository is bound, only the teams that bound it hear its events, and only those that come from then on. In production (`FORGE_BINDING=verified`) the code host must say that your connected account may push to the repository; an administrator of the installation needs no such proof. 403 names the proof that is missing, 503 says that the code host does not answer. Binding it for a second team takes an instance admin.',
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
    method: 'delete',
    path: '/api/forge/repositories/:binding_id',
    tag,
    summary: 'End a binding',
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
    method: 'post',
    path: '/api/tasks/:task_id/forge-links',
    tag,
    summary: 'Link a task to an issue',
    description: 'A link that stands already is answered with 200.',
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
