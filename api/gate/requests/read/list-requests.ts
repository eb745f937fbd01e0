import { run } from '../../../../db/statement.js';
import { isAdmitted, rolesFor, SEATS } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import type { CutPage } from '../../../platform/endpoint/endpoint.js';
import { presentRequest, type RequestRow, withMissing } from '../present-request.js';
import type { ListRequests } from '../schema.js';
import { countDecidableStatement, listRequestsStatement } from './read.sql.js';

/** Bytes of requests that one answer holds, so that no team can make a list costly. */
const MAX_BYTES = 1024 * 1024;

/** For each role, those that a request may require of it. */
const REACHES = JSON.stringify(Object.fromEntries(SEATS.map((seat, place) => [seat, SEATS.slice(0, place + 1)])));

/** Lists the requests of teams in which the caller is no guest, newest first. A page of large requests is shorter than `limit`. */
export async function listRequests(ctx: Context, query: ListRequests): Promise<CutPage> {
  const { team_id = null, status = null, system = null, mine, decidable, limit, before = null } = query;
  const filters = [before, team_id, status, system, mine, decidable];
  const values = [requireUser(ctx), rolesFor('request.read'), limit + 1, ...filters, REACHES, MAX_BYTES];
  if (decidable && !isAdmitted('request.decide', ctx.actor))
    return { body: { requests: [], next_cursor: null }, count: 0, more: false };
  const rows = await run<RequestRow & { found: number }>(ctx.db, listRequestsStatement, values);
  const shown = await withMissing(ctx, rows.slice(0, limit));
  const requests = shown.map((row) => presentRequest(ctx, row, { isListed: true }));
  const hasMore = (rows[0]?.found ?? 0) > shown.length;
  const last = shown.at(-1)?.request_id;
  return { body: { requests, next_cursor: hasMore ? (last ?? null) : null }, count: requests.length, more: hasMore, last };
}

/** Counts the requests that the caller may approve and has not approved yet, at most `limit`. */
export async function countDecidableRequests(ctx: Context, limit: number): Promise<number> {
  if (!isAdmitted('request.decide', ctx.actor)) return 0;
  const [row] = await run<{ waiting: number }>(ctx.db, countDecidableStatement, [requireUser(ctx), REACHES, limit]);
  return row?.waiting ?? 0;
}
