import { run } from '../../../db/statement.js';
import { findRequest } from '../../gate/requests/read/read-request.js';
import { checkRequester } from '../../gate/requests/use/redeem-request.js';
import { authorize } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { readResultStatement } from './perform.sql.js';
import type { RequestResult } from './schema.js';

/**
 * Returns what the other server answered to a request that Assent performed, for its requester.
 * @throws RESOURCE_NOT_FOUND unknown, or the requester performs it | PERMISSION_DENIED `not_requester`
 */
export async function readResult(ctx: Context, requestId: string): Promise<RequestResult> {
  const request = await findRequest(ctx, requestId);
  authorize('request.use', request.seat);
  checkRequester(ctx, request);
  const [found] = await run<RequestResult & Record<string, unknown>>(ctx.db, readResultStatement, [requestId]);
  if (!found) throw notFound('Result');
  return { status: found.status, result: found.result, is_cut: found.is_cut };
}
