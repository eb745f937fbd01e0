import { run } from '../../../db/statement.js';
import { readContent } from '../../gate/requests/content.js';
import { notifyRequester, notifyStale } from '../../gate/requests/create/notify-approvers.js';
import { requestChange, type TracedRequest } from '../../gate/requests/request-change.js';
import { callerJson, type Context, inTransaction, type Services, serviceContext } from '../../platform/context.js';
import { cleanResult, type ToolResult } from '../gateway/client/result.js';
import { UpstreamFailure } from '../gateway/client/session.js';
import { listTools } from '../gateway/client/tools.js';
import { staleRequestStatement } from '../gateway/serve/asked.sql.js';
import { type OpenUpstream, openUpstream } from '../gateway/upstreams/open-upstream.js';
import type { UpstreamRow } from '../gateway/upstreams/read-upstreams.js';
import { markToolStatement, upstreamStatement } from '../gateway/upstreams/upstreams.sql.js';
import { cutBytes, MAX_RESULT, type Performance } from './performance.js';

/** A request for a call, as far as this file needs it. */
interface CalledRow extends TracedRequest {
  upstream_id: string | null;
  requested_by: string;
  title: string;
}

/** Ends a request whose tool is not the approved one any more. Nothing was called. */
export function endStale(services: Services, row: CalledRow): Promise<void> {
  return inTransaction(serviceContext(services, 'requests'), async (ctx) => {
    const change = requestChange(ctx.config, row, { action: 'stale', status: 'stale', event: 'request.stale' });
    const [ended] = await run<{ approvers: string[] }>(ctx.db, staleRequestStatement, [
      row.request_id,
      JSON.stringify(callerJson(ctx)),
      JSON.stringify(change),
    ]);
    if (!ended) return;
    await notifyRequester(ctx, row, 'stale');
    await notifyStale(ctx, row, ended.approvers);
  });
}

/** A session whose tool is the approved one, in words if there is none. */
export type ReadyCall = { open: OpenUpstream } | { stale: true } | { failure: UpstreamFailure };

/** Begins a session and compares the tool with the approved one, before the approval is used. */
export async function prepareCall(services: Services, row: CalledRow): Promise<ReadyCall> {
  const ctx: Context = serviceContext(services, 'requests');
  const [upstream] = await run<UpstreamRow>(ctx.db, upstreamStatement, [row.upstream_id]);
  const [operation] = readContent(row.canonical).operations;
  // Another address, or none, is another target than people have approved.
  if (!upstream?.is_active || upstream.url !== operation?.target) return { stale: true };
  try {
    const open = await openUpstream(ctx, upstream);
    await open.session.open();
    const now = (await listTools(open.session)).get(operation.name);
    if (now?.hash.toString('hex') === operation.tool_hash) return { open };
    await run(ctx.db, markToolStatement, [upstream.upstream_id, operation.name, now?.definition ?? null, now?.hash ?? null]);
    return { stale: true };
  } catch (error) {
    if (error instanceof UpstreamFailure) return { failure: error };
    throw error;
  }
}

const isLong = (result: ToolResult): boolean => Buffer.byteLength(JSON.stringify(result)) > MAX_RESULT;

/** Shortens a result until its JSON fits: the structured content goes first, then the ends of texts. */
function fit(result: ToolResult): Pick<Performance, 'result' | 'isCut'> {
  if (!isLong(result)) return { result: JSON.stringify(result), isCut: false };
  const { structuredContent: _structured, ...kept } = result;
  for (let max = MAX_RESULT / 2; isLong(kept) && max >= 1; max /= 2)
    kept.content = kept.content.map(({ type, text }) => ({ type, text: text.length > max ? `${cutBytes(text, max)}…` : text }));
  return { result: JSON.stringify(kept), isCut: true };
}

/** Calls the tool, once, with the approved arguments. */
export async function call({ session, secrets }: OpenUpstream, row: CalledRow): Promise<Performance> {
  const [operation] = readContent(row.canonical).operations;
  const began = performance.now();
  try {
    const result = cleanResult(
      await session.request('tools/call', { name: operation?.name, arguments: operation?.arguments }),
      secrets,
    );
    return {
      outcome: result.isError ? 'failed' : 'succeeded',
      details: { duration_ms: Math.round(performance.now() - began) },
      ...fit(result),
    };
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    const { reason, message, mayHaveArrived } = error;
    return {
      outcome: mayHaveArrived && reason !== 'refused' ? 'unknown' : 'failed',
      details: { details: { error: reason, message } },
      result: null,
      isCut: false,
    };
  }
}
