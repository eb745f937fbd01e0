import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { McpAnswer, McpMessage } from './schema.js';
import { serveMcp } from './serve.js';

const MAX_BODY = 1024 * 1024;

/** Name of the tool that a message calls, whatever it is. */
const getTool = (message: unknown): unknown => (message as { params?: { name?: unknown } | null } | null)?.params?.name;

/** Calls a minute of the tool that stages plans; each is a dry run of up to 50 changes. */
const getLimit = (message: unknown) => (getTool(message) === 'propose_plan' ? ('mcp_propose' as const) : undefined);

export const mcpRoutes: Endpoint[] = [
  endpoint({
    id: 'callMcp',
    method: 'post',
    path: '/api/mcp',
    tag: 'AI workspace',
    summary: 'Call the MCP server',
    description:
      'The Model Context Protocol over Streamable HTTP, stateless, for agents of your own: versions 2026-07-28 and 2025-11-25, and the older ones that send one message a request. A personal access token is required, best one with `mcp_only`; its scopes are always checked, each tool naming its own. An agent reads with the rights of the token’s owner and proposes plans; no tool changes or confirms anything. Errors have the keys of the envelope and of JSON-RPC.',
    ability: 'mcp.use',
    forAgents: true,
    limit: 'mcp',
    getLimit,
    bodyLimit: MAX_BODY,
    body: McpMessage,
    exactJson: (message) => getTool(message) === 'request_change',
    response: McpAnswer,
    alsoStatus: [202],
    eventStream: 'One event; its `data` is the same message as JSON',
    errors: [404, 406],
    storable: false,
    example: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
    handle: ({ ctx, body, headers }) => serveMcp(ctx, body, headers),
  }),
];
