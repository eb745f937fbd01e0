import { type Context, requireUser } from '../../../platform/context.js';
import type { ChangeRequest, ReadRequest } from '../schema.js';
import { findRequest, readRequest } from './read-request.js';
import { requestListener } from './request-listener.js';

/** Calls the listener when the client closes its connection; returns a function that stops listening. */
type OnHangUp = (listener: () => void) => () => void;

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
  const waiting = requestListener(ctx.config.DATABASE_URL).enter({ requestId, caller, team: team_id, seq: seen }, ctx.log);
  let timer: NodeJS.Timeout | undefined;
  let hangUp = (): void => undefined;
  const end = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, wait * 1_000);
    hangUp = resolve;
  });
  const stopListening = onHangUp(() => hangUp());
  try {
    // Read after the wait has begun, so that no change falls between.
    const { seq } = await findRequest(ctx, requestId);
    if (seq <= seen) await Promise.race([waiting.done, end]);
  } finally {
    clearTimeout(timer);
    stopListening();
    waiting.close();
  }
  return readRequest(ctx, requestId);
}
