import { run } from '../../../../db/statement.js';
import { afterCommit, callerJson, type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { countRequests } from '../../../platform/telemetry/metrics.js';
import { notifyRequester } from '../create/notify-approvers.js';
import { readContent } from '../content.js';
import { readRequest } from '../read/read-request.js';
import { requestChange } from '../request-change.js';
import type { ChangeRequest, RejectRequest } from '../schema.js';
import { rejectRequestStatement } from './decide.sql.js';
import { checkHash, checkPending, type LockedRequest, lockRequest } from './lock-request.js';
import { authorizeRequest } from './policy.js';

/** Rejects a request that the caller has locked, with its trace, and tells the requester. */
export async function rejectLocked(
  ctx: Context,
  request: LockedRequest,
  comment: string | null,
  reason: 'approver' | 'code' = 'approver',
): Promise<void> {
  const userId = requireUser(ctx);
  const change = requestChange(ctx.config, request, {
    action: 'reject',
    status: 'rejected',
    summary: 'rejected a change request',
    event: 'request.rejected',
    severity: 'MEDIUM',
    details: { reason, ...(comment !== null && { comment }) },
  });
  const values = [request.request_id, userId, request.request_hash, comment];
  const traces = [JSON.stringify(callerJson(ctx)), JSON.stringify(change), reason];
  await run(ctx.db, rejectRequestStatement, [...values, ...traces]);
  afterCommit(ctx, () => countRequests('rejected'));
  await notifyRequester(ctx, { ...request, title: readContent(request.canonical).title }, 'rejected', userId, comment);
}

/**
 * Rejects a request that waits. The people behind it may do so too: a no only prevents.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED | REQUEST_EXPIRED | RESOURCE_CONFLICT `not_pending`, `hash_differs`
 */
export function rejectRequest(
  ctx: Context,
  requestId: string,
  { request_hash, comment = null }: RejectRequest,
): Promise<ChangeRequest> {
  return inTransaction(ctx, async (ctx) => {
    const request = await lockRequest(ctx, requestId, 'request.decide');
    authorizeRequest(ctx, 'rejected', request);
    checkPending(request);
    checkHash(request, request_hash);
    await rejectLocked(ctx, request, comment);
    return readRequest(ctx, requestId);
  });
}
