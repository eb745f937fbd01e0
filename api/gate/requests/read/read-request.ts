import { run } from '../../../../db/statement.js';
import { authorize, checkCallerKind, isAdmitted, isAllowed } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { type CountedRequest, type EarlierRequest, presentRequest, type RequestRow, withMissing } from '../present-request.js';
import type { ChangeRequest } from '../schema.js';
import { readRequestsStatement, readRequestStatement } from './read.sql.js';

/** Returns requests by id with the caller's role. */
const findRequests = async (ctx: Context, ids: readonly string[]): Promise<CountedRequest[]> =>
  ids.length === 0 ? [] : withMissing(ctx, await run<RequestRow>(ctx.db, readRequestsStatement, [ids, requireUser(ctx)]));

/** Returns requests by id that the caller may read. */
export const findReadableRequests = async (ctx: Context, ids: readonly string[]): Promise<CountedRequest[]> =>
  isAdmitted('request.read', ctx.actor)
    ? (await findRequests(ctx, ids)).filter(({ seat }) => isAllowed('request.read', seat))
    : [];

/** Returns requests by id as the API shows them, without those that the caller may not read. */
export const readRequests = async (ctx: Context, ids: readonly string[]): Promise<ChangeRequest[]> =>
  (await findReadableRequests(ctx, ids)).map((row) => presentRequest(ctx, row));

/** @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED a guest, or no member of its team */
function readable<Row extends RequestRow>(row: Row | undefined): Row {
  if (!row) throw notFound('Change request');
  authorize('request.read', row.seat);
  return row;
}

/** @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED a guest, or no member of its team */
export async function findRequest(ctx: Context, requestId: string): Promise<CountedRequest> {
  // Also for those who come by the list of all decisions, where impersonating admins read gates.
  checkCallerKind('request.read', ctx.actor);
  return readable((await findRequests(ctx, [requestId]))[0]);
}

/**
 * Returns a request whole, in any status.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED a guest, or no member of its team
 */
export async function readRequest(ctx: Context, requestId: string): Promise<ChangeRequest> {
  const values = [requestId, requireUser(ctx)];
  const [found] = await run<RequestRow & { earlier: EarlierRequest[] }>(ctx.db, readRequestStatement, values);
  const [row] = await withMissing(ctx, [readable(found)]);
  return presentRequest(ctx, readable(row), found);
}
