import type { Context } from '../../platform/context.js';
import { invalidFields } from '../../platform/errors.js';
import type { CutPage } from '../../platform/endpoint/endpoint.js';
import { coveredTeams } from './covered-teams.js';
import { countEntries, findEntries, readRecords } from './find-entries.js';
import { resolveFilters, MAX_ENTRIES, rowsToSkip } from './filters.js';
import type { ListEntries } from './schema.js';

/**
 * Returns a page of the log of the teams that the caller administers, newest first. The total is exact up to 10,000.
 * @throws PERMISSION_DENIED; VALIDATION_ERROR for a page that begins behind the first 10,000 of more entries; INVALID_REQUEST for a search
 * that takes too long
 */
export const listEntries = async (ctx: Context, query: ListEntries): Promise<CutPage> =>
  listEntriesOfTeams(ctx, await coveredTeams(ctx, query.team_id), query);

/** The same for `coveredTeams` that the caller has read. */
export async function listEntriesOfTeams(ctx: Context, teams: string[], query: ListEntries): Promise<CutPage> {
  const wanted = { teams, filters: resolveFilters(query) };
  const { limit } = query;
  const skip = rowsToSkip(query);
  const counted = await countEntries(ctx, wanted, MAX_ENTRIES + 1);
  const isCapped = counted > MAX_ENTRIES;
  if (isCapped && skip > MAX_ENTRIES) {
    const message = `must be at most ${MAX_ENTRIES} here: narrow the list with to_time instead`;
    throw invalidFields([{ field: 'query.offset', message, type: 'too_big' }]);
  }
  const found = skip < counted ? await findEntries(ctx, wanted, { limit: limit + 1, offset: skip }) : [];
  const keys = found.slice(0, limit);
  const more = found.length > limit;
  const page = {
    total: Math.min(counted, MAX_ENTRIES),
    ...(isCapped && { total_capped: true }),
    count: keys.length,
    limit,
    offset: skip,
    skip,
    has_more: more,
  };
  return {
    body: `{"entries":[${await readRecords(ctx, keys)}],${JSON.stringify(page).slice(1)}`,
    count: keys.length,
    offset: skip,
    more: more && !(isCapped && skip + limit > MAX_ENTRIES),
    truncated: more && isCapped && skip + limit > MAX_ENTRIES,
    ...(!isCapped && { total: counted }),
  };
}
