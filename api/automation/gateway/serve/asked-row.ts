import { run } from '../../../../db/statement.js';
import { webAddress } from '../../../platform/config.js';
import type { Context } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import type { ToolResult } from '../client/result.js';
import { deliverStatement, gatewayRequestStatement } from './asked.sql.js';
import type { Gateway } from './gateway.js';

/** What became of a call that was asked for. */
export interface AskedRow extends Record<string, unknown> {
  request_id: string;
  status: string;
  closed_reason: string | null;
  outcome: string | null;
  seq: number;
  created_at: Date;
  result: string | null;
  is_over: boolean;
}

/** Returns a request that this token asked this server for. @throws RESOURCE_NOT_FOUND */
export async function readAsked({ ctx, upstream, tokenId }: Gateway, requestId: string): Promise<AskedRow> {
  const [row] = await run<AskedRow>(ctx.db, gatewayRequestStatement, [requestId, tokenId, upstream.upstream_id]);
  if (!row) throw notFound('Change request');
  return row;
}

/** The page on which people decide about a request. */
export const pageOf = ({ config }: Context, requestId: string): string =>
  webAddress(config, `/app/approvals/request/${requestId}`);

export const hasEnded = ({ status, outcome, is_over }: AskedRow): boolean =>
  is_over || (status === 'redeemed' ? outcome !== null : !['pending', 'approved'].includes(status));

const toResult = (content: Record<string, unknown>, isError = false): ToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(content) }],
  structuredContent: content,
  ...(isError && { isError }),
});

/** Notes that the agent knows how a call ended: the same call is a new one from now on. */
export const noteDelivery = (ctx: Context, requestId: string): Promise<unknown> => run(ctx.db, deliverStatement, [requestId]);

/** Says how a call ended. */
export async function deliver(ctx: Context, row: AskedRow): Promise<ToolResult> {
  const { request_id, status, closed_reason, outcome, result, is_over } = row;
  await noteDelivery(ctx, request_id);
  if (result !== null) return JSON.parse(result) as ToolResult;
  if (status === 'redeemed') return toResult({ status: outcome, request_id, message: 'The server gave no result' }, true);
  const reason = closed_reason === null ? {} : { reason: closed_reason };
  return toResult({ status: is_over ? 'expired' : status, request_id, ...reason, message: 'Nothing was called' }, true);
}

/** Says that a person has not decided yet. No error: models repeat what failed. */
export const pending = (ctx: Context, requestId: string): ToolResult =>
  toResult({
    status: 'pending',
    request_id: requestId,
    decide_url: pageOf(ctx, requestId),
    next: 'A person decides at decide_url. Call assent_result with this request_id to wait for the result; do not call the tool again.',
  });
