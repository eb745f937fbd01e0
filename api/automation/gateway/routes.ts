import { z } from 'zod';
import { McpAnswer, McpMessage } from '../../agent/mcp/schema.js';
import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { serveGateway } from './serve/serve-gateway.js';
import { createUpstream, deleteUpstream, pinTool, refreshUpstream, updateUpstream } from './upstreams/manage-upstreams.js';
import { getUpstream, listUpstreams } from './upstreams/read-upstreams.js';
import {
  CreateUpstream,
  DeletedUpstream,
  PinTool,
  ToolPath,
  UpdateUpstream,
  Upstream,
  UpstreamPath,
  UpstreamQuery,
} from './upstreams/schema.js';

const tag = 'MCP gateway';
const managed = { tag, ability: 'gateway.manage', scope: 'admin:*', scopeEnforced: true, response: Upstream } as const;
const read = { tag, ability: 'gateway.read', scope: 'requests:read', scopeEnforced: true } as const;

export const gatewayRoutes: Endpoint[] = [
  endpoint({
    ...read,
    id: 'listUpstreams',
    method: 'get',
    path: '/api/mcp/upstreams',
    summary: 'List the MCP servers behind the gateway',
    query: UpstreamQuery,
    response: z.array(Upstream),
    errors: [404],
    handle: ({ ctx, query }) => listUpstreams(ctx, query.team_id),
  }),
  endpoint({
    ...managed,
    id: 'createUpstream',
    method: 'post',
    path: '/api/mcp/upstreams',
    summary: 'Put an MCP server behind the gateway',
    description:
      'Its tools are pinned as they are now, and each call of one is asked about. A tool that comes later or that changes is not callable until an admin pins it.',
    body: CreateUpstream,
    status: 201,
    errors: [404, 409],
    example: {
      team_id: '0197a000-0000-7000-8000-000000000003',
      slug: 'files',
      url: 'https://mcp.example.com/files',
      headers: { authorization: 'Bearer {{secret:FILES_TOKEN}}' },
    },
    handle: ({ ctx, body }) => createUpstream(ctx, body),
  }),
  endpoint({
    ...read,
    id: 'getUpstream',
    method: 'get',
    path: '/api/mcp/upstreams/:upstream_id',
    summary: 'Get an MCP server behind the gateway, with its tools',
    params: UpstreamPath,
    response: Upstream,
    errors: [404],
    handle: ({ ctx, params }) => getUpstream(ctx, params.upstream_id),
  }),
  endpoint({
    ...managed,
    id: 'updateUpstream',
    method: 'patch',
    path: '/api/mcp/upstreams/:upstream_id',
    summary: 'Change how the gateway calls an MCP server',
    params: UpstreamPath,
    body: UpdateUpstream,
    errors: [404],
    example: { hold_seconds: 10 },
    handle: ({ ctx, params, body }) => updateUpstream(ctx, params.upstream_id, body),
  }),
  endpoint({
    ...managed,
    id: 'deleteUpstream',
    method: 'delete',
    path: '/api/mcp/upstreams/:upstream_id',
    summary: 'Remove an MCP server from the gateway',
    params: UpstreamPath,
    response: DeletedUpstream,
    errors: [404],
    async handle({ ctx, params }) {
      await deleteUpstream(ctx, params.upstream_id);
      return { success: true, upstream_id: params.upstream_id };
    },
  }),
  endpoint({
    ...managed,
    id: 'refreshUpstream',
    method: 'post',
    path: '/api/mcp/upstreams/:upstream_id/refresh',
    summary: 'Compare the tools of an MCP server with the pinned ones',
    params: UpstreamPath,
    errors: [404],
    handle: ({ ctx, params }) => refreshUpstream(ctx, params.upstream_id),
  }),
  endpoint({
    ...managed,
    id: 'pinTool',
    method: 'put',
    path: '/api/mcp/upstreams/:upstream_id/tools/:name',
    summary: 'Pin a tool, and say what a call of it needs',
    description:
      '`allow`: calls pass through, which is also a way out for the agent’s words. `ask`: people decide about each call. `deny`: agents do not see it. What the server says of a tool, such as `readOnlyHint`, decides nothing.',
    params: ToolPath,
    body: PinTool,
    errors: [404, 409],
    example: { policy: 'ask', tool_hash: `sha256:${'0f'.repeat(32)}` },
    handle: ({ ctx, params, body }) => pinTool(ctx, params.upstream_id, params.name, body),
  }),
  endpoint({
    id: 'callGateway',
    method: 'post',
    path: '/api/mcp/gateway/:upstream',
    tag,
    summary: 'Call an MCP server behind the gateway',
    description:
      'One message of the Model Context Protocol, as at `/api/mcp`, to the server that an id or a slug names. Agents read the pinned texts, never the live ones. A call that is asked about waits `hold_seconds`, then answers `pending` with the page of the decision; `assent_result` waits again. The same call of the same token finds the open request: a client that timed out has no second effect.',
    ability: 'gateway.use',
    scope: 'requests:create',
    scopeEnforced: true,
    forAgents: true,
    limit: 'mcp_gateway',
    params: z.object({ upstream: z.string().max(100) }),
    body: McpMessage,
    exactJson: true,
    response: McpAnswer,
    alsoStatus: [202],
    eventStream: 'One event; its `data` is the same message as JSON',
    errors: [404, 406, 409],
    storable: false,
    example: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
    handle: ({ ctx, params, body, ...request }) => serveGateway(ctx, params.upstream, body, request),
  }),
];
