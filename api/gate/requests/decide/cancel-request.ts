import { isAllowed } from '../../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { forbidden } from '../../../platform/errors.js';
import { readRequest } from '../read/read-request.js';
import type { ChangeRequest } from '../schema.js';
import { cancelOne } from './close-requests.js';
import { checkOpen, type LockedRequest, lockRequest } from './lock-request.js';

type Canceller = 'requester' | 'manager' | 'approver';

/** Returns in what part the caller may cancel. @throws PERMISSION_DENIED `not_requester` */
function findPart(userId: string, { requested_by, mine, seat }: LockedRequest): Canceller {
  if (requested_by === userId) return 'requester';
  if (mine === 'approved') return 'approver';
  if (isAllowed('request.cancel_any', seat)) return 'manager';
  throw forbidden('Only the requester, one of its approvers or a manager may cancel a request', {
    extra: { reason: 'not_requester' },
  });
}

/**
 * Cancels a request that waits or is approved and not used.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED `not_requester` | REQUEST_EXPIRED | RESOURCE_CONFLICT `not_pending`
 */
export function cancelRequest(ctx: Context, requestId: string, comment: string | null): Promise<ChangeRequest> {
  return inTransaction(ctx, async (ctx) => {
    const request = await lockRequest(ctx, requestId, 'request.cancel');
    const userId = requireUser(ctx);
    const part = findPart(userId, request);
    checkOpen(request);
    await cancelOne(ctx, requestId, part, { userId, comment });
    return readRequest(ctx, requestId);
  });
}
