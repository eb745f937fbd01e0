import { FollowEvents } from '../../identity/live/schema.js';
import { openStream, STREAM_HEADERS } from '../../identity/live/open-stream.js';
import type { Context } from '../../platform/context.js';
import { toDomainError } from '../../platform/database/database-errors.js';
import { closeStalled } from '../../platform/endpoint/close-stalled.js';
import { isOurSite } from './csrf.js';
import type { KoaContext } from './send.js';

/** Where pages follow changes; no page of its own. */
export const LIVE = '/app/live';

/**
 * Streams the changes of GET /api/events to a page, for the user of its session. A visitor gets 204, after which browsers do not connect again. Nobody
 * sees the text of an error: the page asks for itself at intervals then.
 */
export async function sendLive(koa: KoaContext, ctx: Context): Promise<void> {
  const query = FollowEvents.safeParse(koa.query);
  if (ctx.actor.type !== 'user' || !isOurSite(ctx.config, koa.req) || !query.success) {
    koa.status = query.success ? 204 : 422;
    return;
  }
  try {
    koa.body = await openStream(ctx, query.data, koa.get('Last-Event-ID'));
    koa.set(STREAM_HEADERS);
    closeStalled(koa.req, koa.res);
  } catch (thrown) {
    const error = toDomainError(thrown);
    koa.set(error.headers);
    koa.status = error.status;
    koa.body = error.message;
  }
}
