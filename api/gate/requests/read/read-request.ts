import { run } from '../../../../db/statement.js';
import { authorize } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { presentRequest, type RequestRow } from '../present-request.js';
import type { ChangeRequest } from '../schema.js';
import { earlierRequestsStatement, readRequestsStatement } from './read.sql.js';

/** Returns requests by id with the caller's role, without those of teams in which the caller may not read them. */
const findRequests = (ctx: Context, ids: readonly string[]): Promise<RequestRow[]> =>
  ids.length === 0 ? Promise.resolve([]) : run<RequestRow>(ctx.db, readRequestsStatement, [ids, requireUser(ctx)]);

/** @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED a guest, or no member of its team */
export async function findRequest(ctx: Context, requestId: string): Promise<RequestRow> {
  const [row] = await findRequests(ctx, [requestId]);
  if (!row) throw notFound('Change request');
  authorize('request.read', row.seat);
  return row;
}

/**
 * Returns a request whole, in any status.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED a guest, or no member of its team
 */
export async function readRequest(ctx: Context, requestId: string): Promise<ChangeRequest> {
  const row = await findRequest(ctx, requestId);
  const earlier = await run<NonNullable<RequestRow['earlier']>[number]>(ctx.db, earlierRequestsStatement, [requestId]);
  return presentRequest(ctx, { ...row, earlier });
}
