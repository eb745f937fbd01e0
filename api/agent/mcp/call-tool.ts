import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Actor } from '../../platform/access/actor.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { toDomainError } from '../../platform/database/database-errors.js';
import { type DomainError, invalidFields } from '../../platform/errors.js';
import { requireScope } from '../../platform/access/require-scope.js';
import { countMcpCall } from '../../platform/telemetry/agent-metrics.js';
import { fieldErrors, ZOD_MESSAGES } from '../../platform/validation/messages.js';
import { fitAnswer } from './rules.js';
import type { McpTool } from './tool.js';

/** Runs a reading tool as `proposer`, in a transaction in which PostgreSQL itself refuses every write. */
async function readOnly<T>(ctx: Context, tool: McpTool, work: (ctx: Context) => Promise<T>): Promise<T> {
  const { userId, email, role } = ctx.actor as Exclude<Actor, { type: 'system' }>;
  const proposer: Context = { ...ctx, actor: { type: 'proposer', userId, email, role } };
  if (tool.ownTransaction) return work(proposer);
  return ctx.db.transaction((db) => work({ ...proposer, db }), { readOnly: true });
}

async function perform(ctx: Context, tool: McpTool, given: unknown): Promise<Record<string, unknown>> {
  if (ctx.actor.type !== 'pat') throw new Error('The MCP endpoint takes tokens only');
  const { scopes } = ctx.actor;
  requireScope(scopes, tool.scope);
  const input = tool.input.safeParse(given ?? {}, ZOD_MESSAGES);
  if (!input.success) throw invalidFields(fieldErrors('arguments', input.error));
  const call = (within: Context) => tool.call(within, input.data, scopes);
  return tool.readOnly ? readOnly(ctx, tool, call) : inTransaction(ctx, call);
}

const toResult = (content: Record<string, unknown>): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(content) }],
  structuredContent: content,
});

/** Describes an error as the API does, without words of PostgreSQL or of our code. */
function toFailure(ctx: Context, error: DomainError): CallToolResult {
  const { code: error_code, status, message, detail, extra } = error;
  return {
    ...toResult(fitAnswer({ error_code, status, message, detail, ...extra, correlation_id: ctx.requestId })),
    isError: true,
  };
}

/** Calls a tool. Never throws: an error is a result that the agent can read. */
export async function callTool(ctx: Context, tool: McpTool, given: unknown): Promise<CallToolResult> {
  try {
    const answer = toResult(fitAnswer(await perform(ctx, tool, given)));
    countMcpCall(tool.name, 'answered');
    return answer;
  } catch (thrown) {
    const error = toDomainError(thrown);
    if (error.status >= 500) ctx.log.error({ err: error.cause ?? error, tool: tool.name }, 'a tool of the MCP endpoint failed');
    countMcpCall(tool.name, error.status >= 500 ? 'failed' : 'refused');
    return toFailure(ctx, error);
  }
}
