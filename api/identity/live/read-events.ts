import { type Context, requireUser } from '../../platform/context.js';
import { encodeCursor } from './cursor.js';
import { checkCursor, type Filter, isGiven, presentChange, readChanges } from './read-changes.js';
import type { Subject } from './readers.js';
import type { FollowEvents, LiveEvents, ReadEvents } from './schema.js';

/** Changes that one answer looks at, whatever the filter lets pass. */
const MAX_READ = 500;

/** Returns whom and what the caller follows. */
export const buildFilter = (ctx: Context, { team_id, types = new Set() }: FollowEvents): Filter => ({
  userId: requireUser(ctx),
  subject: { actor: ctx.actor as Subject['actor'], config: ctx.config },
  teamId: team_id ?? null,
  types,
});

/**
 * Returns the changes after a cursor that the caller may read, oldest first. Each is given out once no older transaction runs, so that none is
 * missing before a cursor. Without `after` the answer is the present cursor.
 * @throws CURSOR_EXPIRED
 */
export async function readEvents(ctx: Context, query: ReadEvents): Promise<LiveEvents> {
  const filter = buildFilter(ctx, query);
  const { after = null, limit } = query;
  // With a filter a page of changes may hold few events, so it is a long one.
  const read = await readChanges(ctx.db, filter, {
    after,
    ms: after?.ms ?? Date.now(),
    limit: filter.types.size > 0 ? MAX_READ : limit,
  });
  if (after) checkCursor(after, read);
  const given = read.rows.filter((row) => isGiven(filter, row, row.role));
  const events = given.slice(0, limit).map((row) => presentChange(read.history, row));
  const isCut = given.length > limit;
  const cursor = isCut
    ? (events.at(-1)?.id as string)
    : encodeCursor(read.history, read.last, read.isWhole ? Date.now() : undefined);
  return { events, cursor, has_more: isCut || !read.isWhole };
}
