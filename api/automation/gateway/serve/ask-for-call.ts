import { run } from '../../../../db/statement.js';
import { createRequest } from '../../../gate/requests/create/create-request.js';
import { readPrepared } from '../../../gate/requests/create/compose-request.js';
import { NEW_REQUEST } from '../../../gate/requests/schema.js';
import { requestListener } from '../../../gate/requests/read/request-listener.js';
import { canonicalJson, computeHash } from '../../../gate/staging/canonical.js';
import { webAddress } from '../../../platform/config.js';
import type { Context } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { z } from 'zod';
import type { ToolResult } from '../client/result.js';
import type { ToolRow, UpstreamRow } from '../upstreams/read-upstreams.js';
import { askedRequestStatement, deliverStatement, gatewayRequestStatement } from './asked.sql.js';

/** What became of a call that was asked for. */
interface Asked extends Record<string, unknown> {
  request_id: string;
  status: string;
  closed_reason: string | null;
  outcome: string | null;
  seq: number;
  result: string | null;
  is_over: boolean;
}

/** A call of a tool by a token. */
export interface AskedCall {
  upstream: UpstreamRow;
  tool: ToolRow;
  given: Record<string, unknown>;
  tokenId: string;
}

const EXPIRES_SECONDS = 86_400;

/** The same call of the same token, so that a client that timed out and calls again has no second effect. */
const keyOf = ({ upstream, tool, given, tokenId }: AskedCall): Buffer =>
  computeHash('assent.call.v1\n', canonicalJson([tokenId, upstream.upstream_id, tool.name, given]));

/** Returns the id of the open request for a call, or makes one. @throws the errors of `createRequest` */
async function findOrAsk(ctx: Context, call: AskedCall): Promise<string> {
  const { upstream, tool, given, tokenId } = call;
  const call_hash = keyOf(call);
  const find = async () =>
    (await run<{ request_id: string }>(ctx.db, askedRequestStatement, [tokenId, call_hash]))[0]?.request_id;
  const known = await find();
  if (known !== undefined) return known;
  const operation = readPrepared({
    system: `mcp.${upstream.slug}`,
    name: tool.name,
    target: upstream.url,
    arguments: given,
    tool_hash: tool.tool_hash?.toString('hex'),
  });
  const asked = z.object(NEW_REQUEST).parse({
    team_id: upstream.team_id,
    title: `${upstream.slug}: ${tool.name}`.slice(0, 200),
    expires_in_seconds: EXPIRES_SECONDS,
  });
  try {
    const prepared = {
      operations: [operation],
      executor: 'assent',
      gateway: { upstream_id: upstream.upstream_id, call_hash },
    } as const;
    return (await createRequest(ctx, asked, { ...prepared, operations: [operation] })).request_id;
  } catch (error) {
    // Another process of the same client was first.
    const isSame = (error as { constraint?: unknown }).constraint === 'change_requests_asked';
    const same = isSame ? await find() : undefined;
    if (same === undefined) throw error;
    return same;
  }
}

const toResult = (content: Record<string, unknown>, isError = false): ToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(content) }],
  structuredContent: content,
  ...(isError && { isError }),
});

const ended = ({ status, outcome, is_over }: Asked): boolean =>
  is_over || (status === 'redeemed' ? outcome !== null : !['pending', 'approved'].includes(status));

/** Says how a call ended. Its result is delivered once; a later call of the same kind asks again. */
async function deliver(
  ctx: Context,
  { request_id, status, closed_reason, outcome, result, is_over }: Asked,
): Promise<ToolResult> {
  await run(ctx.db, deliverStatement, [request_id]);
  if (result !== null) return JSON.parse(result) as ToolResult;
  if (status === 'redeemed') return toResult({ status: outcome, request_id, message: 'The server gave no result' }, true);
  const reason = closed_reason === null ? {} : { reason: closed_reason };
  return toResult({ status: is_over ? 'expired' : status, request_id, ...reason, message: 'Nothing was called' }, true);
}

/** Says that a person has not decided yet. No error: models repeat what failed. */
const pending = (ctx: Context, requestId: string): ToolResult =>
  toResult({
    status: 'pending',
    request_id: requestId,
    decide_url: webAddress(ctx.config, `/app/approvals/request/${requestId}`),
    next: 'A person decides at decide_url. Call assent_result with this request_id to wait for the result; do not call the tool again.',
  });

/**
 * Waits for a request of this token, at most so many seconds, and returns its result or that it is pending.
 * @throws RESOURCE_NOT_FOUND another request | RATE_LIMIT_EXCEEDED the token waits too often
 */
export async function holdForResult(
  ctx: Context,
  requestId: string,
  upstream: UpstreamRow,
  tokenId: string,
): Promise<ToolResult> {
  const read = async (): Promise<Asked> => {
    const [row] = await run<Asked>(ctx.db, gatewayRequestStatement, [requestId, tokenId]);
    if (!row) throw notFound('Change request');
    return row;
  };
  const deadline = performance.now() + upstream.hold_seconds * 1_000;
  for (;;) {
    const before = await read();
    if (ended(before)) return deliver(ctx, before);
    const left = deadline - performance.now();
    if (left <= 0) return pending(ctx, requestId);
    const about = { requestId, caller: tokenId, team: upstream.team_id, seq: before.seq };
    const waiting = requestListener(ctx.config.DATABASE_URL).enter(about, ctx.log);
    let timer: NodeJS.Timeout | undefined;
    try {
      // Read after the wait has begun, so that no change falls between.
      if ((await read()).seq === before.seq) {
        const end = new Promise<void>((resolve) => {
          timer = setTimeout(resolve, left);
        });
        await Promise.race([waiting.done, end]);
      }
    } finally {
      clearTimeout(timer);
      waiting.close();
    }
  }
}

/** Asks people about a call and waits for its result. @throws the errors of `createRequest` and `holdForResult` */
export async function askForCall(ctx: Context, call: AskedCall): Promise<ToolResult> {
  return holdForResult(ctx, await findOrAsk(ctx, call), call.upstream, call.tokenId);
}
