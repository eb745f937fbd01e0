import type { McpRequestContext, Server } from '@modelcontextprotocol/server';
import type { IncomingHttpHeaders } from 'node:http';
import { run } from '../../../../db/statement.js';
import { answerMessage, type BuildServer } from '../../../agent/mcp/serve.js';
import { cancelRequest } from '../../../gate/requests/decide/cancel-request.js';
import { rolesFor } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import type { Reply } from '../../../platform/endpoint/endpoint.js';
import { conflict, notFound } from '../../../platform/errors.js';
import { Id } from '../../../platform/fields.js';
import type { ToolResult } from '../client/result.js';
import { UpstreamFailure } from '../client/session.js';
import { readDefinition } from '../client/tools.js';
import { findUpstream, readTools, type ToolRow, type UpstreamRow } from '../upstreams/read-upstreams.js';
import { usableUpstreamsStatement } from '../upstreams/upstreams.sql.js';
import { type AgentClient, readClient, TASKS } from './agent-client.js';
import { askForCall, findAsked, holdForResult } from './ask-for-call.js';
import { readAsked } from './asked-row.js';
import { type Gateway, type GatewayCall, toKnownError } from './gateway.js';
import { passThrough } from './pass-through.js';
import { serveTasks } from './tasks.js';

const REQUEST_ID = { type: 'object', properties: { request_id: { type: 'string' } }, required: ['request_id'] } as const;
/** Tools of the gateway itself. */
const OWN = {
  assent_result: {
    description:
      'Waits for the result of a call that a person decides about, by the request_id that the call returned. May be called again.',
    call: holdForResult,
  },
  assent_cancel: {
    description: 'Takes back a call that was asked for and has not been performed.',
    async call(gateway: Gateway, requestId: string): Promise<ToolResult> {
      // Only what this token asked for here: its user may cancel more.
      await readAsked(gateway, requestId);
      const { status } = await cancelRequest(gateway.ctx, requestId, null);
      return { content: [{ type: 'text', text: JSON.stringify({ status, request_id: requestId }) }] };
    },
  },
} as const;
const isOwn = (name: string): name is keyof typeof OWN => Object.hasOwn(OWN, name);

/** Whether agents may see and call a tool: an admin has pinned it, and the server shows the same. */
const isCallable = ({ state, policy, name }: ToolRow): boolean => state === 'pinned' && policy !== 'deny' && !isOwn(name);

/** Returns the pinned definition. One that is asked about has no schema of its result, because a pending one would not fit it. */
function describe({ definition, policy }: ToolRow) {
  const { outputSchema, ...tool } = readDefinition(definition ?? '{}');
  return { ...tool, ...(policy === 'allow' && outputSchema && { outputSchema }) };
}

async function listAll({ ctx, upstream }: Gateway) {
  const own = Object.entries(OWN).map(([name, { description }]) => ({ name, description, inputSchema: REQUEST_ID }));
  return [...(await readTools(ctx, upstream.upstream_id)).filter(isCallable).map(describe), ...own];
}

/** The longest life of a request that waits for its yes and its use, ms. */
const ASKED_MS = 2 * 86_400_000;

/** Whether people were asked about this very call before an admin allowed the tool: its result is not known yet, and a second call would be another effect. */
async function wasAsked(call: GatewayCall, { state }: AgentClient): Promise<boolean> {
  if (state !== undefined) return true;
  const pinnedMs = Date.now() - (call.tool.pinned_at?.getTime() ?? 0);
  return pinnedMs < ASKED_MS && (await findAsked(call)) !== undefined;
}

async function call(gateway: Gateway, client: AgentClient, name: string, given: Record<string, unknown>): Promise<object> {
  if (isOwn(name)) return OWN[name].call(gateway, Id.parse(given['request_id'] ?? ''), client);
  const tool = (await readTools(gateway.ctx, gateway.upstream.upstream_id)).find((one) => one.name === name);
  if (!tool || !isCallable(tool)) throw notFound('Tool');
  const asked = { ...gateway, tool, given };
  return tool.policy === 'allow' && !(await wasAsked(asked, client)) ? passThrough(asked) : askForCall(asked, client);
}

const toFailure = (code: string, message: string, extra: object = {}): ToolResult => {
  const content = { error_code: code, message, ...extra };
  return { content: [{ type: 'text', text: JSON.stringify(content) }], structuredContent: content, isError: true };
};

/** Calls a tool. Never throws: an error is a result that the agent can read. */
async function callSafely(gateway: Gateway, client: AgentClient, name: string, given: unknown): Promise<object> {
  try {
    return await call(gateway, client, name, (given ?? {}) as Record<string, unknown>);
  } catch (thrown) {
    if (thrown instanceof UpstreamFailure) return toFailure(thrown.reason.toUpperCase(), thrown.message);
    const { code, message, extra } = toKnownError(gateway, thrown);
    return toFailure(code, message, extra);
  }
}

/** Registers what an agent may call of one server. */
const buildGateway: BuildServer = (Constructor: typeof Server, { authInfo }: McpRequestContext): Server => {
  const gateway = authInfo?.extra as unknown as Gateway;
  const { slug, offers_tasks } = gateway.upstream;
  const server = new Constructor(
    { name: `assent-${slug}`, title: `${slug}, behind Assent`, version: '1.0.0' },
    {
      capabilities: { tools: {}, ...(offers_tasks && { extensions: { [TASKS]: {} } }) },
      instructions:
        'A person decides about most calls. A result with status "pending" is no error: give the person its decide_url, and call assent_result.',
    },
  );
  server.setRequestHandler('tools/list', async () => ({ tools: (await listAll(gateway)) as never }));
  server.setRequestHandler(
    'tools/call',
    async ({ params }, sent) => (await callSafely(gateway, readClient(sent), params.name, params.arguments)) as never,
  );
  if (offers_tasks) serveTasks(server, gateway);
  return server;
};

/** Returns the server that an id or a slug names. @throws RESOURCE_NOT_FOUND | RESOURCE_CONFLICT several of this slug, with their ids */
async function findUsable(ctx: Context, name: string): Promise<UpstreamRow> {
  const found = await run<UpstreamRow>(ctx.db, usableUpstreamsStatement, [name, requireUser(ctx), rolesFor('gateway.use')]);
  const [one] = found;
  // One that exists says that the caller may not use it; a name that no server of theirs has is unknown.
  if (!one) return findUpstream(ctx, Id.parse(name), 'gateway.use').then(() => Promise.reject(notFound('Upstream')));
  if (found.length === 1) return one;
  throw conflict('Several servers have this name: use the id of one', {
    extra: { upstream_ids: found.map(({ upstream_id }) => upstream_id) },
  });
}

/**
 * Answers one message of an agent to another MCP server, whose tools an admin has pinned.
 * @throws RESOURCE_NOT_FOUND | RESOURCE_CONFLICT several servers have this slug | DomainError with the keys of JSON-RPC
 */
export async function serveGateway(
  ctx: Context,
  name: string,
  message: unknown,
  { headers, onHangUp }: { headers: IncomingHttpHeaders } & Pick<Gateway, 'onHangUp'>,
): Promise<Reply> {
  if (ctx.actor.type !== 'pat') throw new Error('The gateway takes tokens only');
  const upstream = await findUsable(ctx, name);
  return answerMessage(buildGateway, { ctx, upstream, tokenId: ctx.actor.tokenId, onHangUp }, message, headers);
}
