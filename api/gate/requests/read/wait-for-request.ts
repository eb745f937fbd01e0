import { type Context, requireUser } from '../../../platform/context.js';
import type { ChangeRequest, ReadRequest } from '../schema.js';
import { findRequest, readRequest } from './read-request.js';
import { type OnHangUp, waitForChange } from './request-listener.js';

/**
 * Returns a request, as soon as its `seq` is more than `seen`, or at the end of `wait` seconds. No connection and no transaction is open meanwhile.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED a guest, or no member of its team | RATE_LIMIT_EXCEEDED the caller, or the team, waits too often
 */
export async function waitForRequest(
  ctx: Context,
  requestId: string,
  { wait, seen }: ReadRequest,
  onHangUp: OnHangUp,
): Promise<ChangeRequest> {
  if (wait === 0) return readRequest(ctx, requestId);
  const { team_id } = await findRequest(ctx, requestId);
  const caller = ctx.actor.type === 'pat' ? ctx.actor.tokenId : requireUser(ctx);
  await waitForChange(
    ctx,
    { requestId, caller, team: team_id, seq: seen },
    { ms: wait * 1_000, onHangUp, readSeq: async () => (await findRequest(ctx, requestId)).seq },
  );
  return readRequest(ctx, requestId);
}
