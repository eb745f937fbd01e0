import { run } from '../../../db/statement.js';
import { authorize, type Seat } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { type CutPage, Parts } from '../../platform/endpoint/endpoint.js';
import { searchIds } from '../search/search-ids.js';
import { keysQuery, type Page, recordsQuery, type WorkItemFilters } from './list-work-items.sql.js';
import { MAX_WORK_ITEMS } from './rules.js';
import type { ListWorkItems } from './schema.js';
import { type ItemKey, readWorkItems } from './read-work-items.js';

/** Maximum items of a response that is one statement and one string; a longer one is streamed. */
const MAX_AT_ONCE = 1_000;

const splitLines = (text: string | null): string[] => text?.split('\n') ?? [];

async function readKeys(ctx: Context, filters: WorkItemFilters, page: Page): Promise<ItemKey[]> {
  const { statement, values } = keysQuery(filters, requireUser(ctx), page);
  const [found] = await run<{ ids: string | null; types: string | null }>(ctx.db, statement, values);
  const types = splitLines(found?.types ?? null);
  return splitLines(found?.ids ?? null).map((id, at) => ({ id, type: types[at] as string }));
}

interface FirstPage extends Record<string, unknown> {
  places: number;
  seat: Seat | null;
  count: number;
  ids: string | null;
  records: string | null;
}

/** @throws RESOURCE_NOT_FOUND unknown project | PERMISSION_DENIED a project of another team */
function checkProject({ places, seat }: FirstPage): void {
  if (places === 0) throw notFound('Project');
  authorize('item.read', seat);
}

/**
 * Lists live items of the caller's teams as JSON, oldest first; at most 10,000, in parts above 1,000 or half a megabyte. Another team's `team_id` returns an
 * empty list.
 * @throws RESOURCE_NOT_FOUND unknown project | PERMISSION_DENIED a project of another team
 */
export async function listWorkItems(ctx: Context, query: ListWorkItems): Promise<CutPage> {
  const { limit, offset, type = null, team_id = null, project_id = null, status = null, updated_since = null } = query;
  const { related_to, relation_type = null, q } = query;
  const related = related_to === undefined ? null : { itemId: related_to, type: relation_type };
  const search = q === undefined ? undefined : await searchIds(ctx, q, MAX_WORK_ITEMS);
  const filters: WorkItemFilters = { type, team_id, project_id, status, updated_since, related, found: search?.ids ?? null };
  const end = Math.min(offset + limit, MAX_WORK_ITEMS);
  const wanted = end - offset;
  const cut = (count: number, more: boolean, body: CutPage['body']): CutPage => ({
    body,
    count,
    more: more && end < MAX_WORK_ITEMS,
    truncated: (more && end === MAX_WORK_ITEMS) || (search?.capped ?? false),
    ...(search?.indexing && { headers: { 'X-Search-Indexing': 'true' } }),
  });
  const atOnce = Math.min(wanted, MAX_AT_ONCE);
  const opening = recordsQuery(filters, requireUser(ctx), { limit: atOnce + 1, offset });
  const [found] = await run<FirstPage>(ctx.db, opening.statement, opening.values);
  if (!found) throw new Error('The list returned no row');
  if (project_id !== null) checkProject(found);
  const { count, ids, records } = found;
  const read = splitLines(ids);
  const first = { text: records ?? '', rows: read.length, more: count > atOnce };
  // All rows that were wanted are read.
  if (read.length === Math.min(count, atOnce) && (count <= atOnce || wanted === atOnce)) {
    return cut(read.length, first.more, `[${first.text}]`);
  }
  const sent = new Set(read);
  const keys = await readKeys(ctx, filters, { limit: wanted + 1, offset });
  const rest = keys.slice(0, wanted).filter(({ id }) => !sent.has(id));
  const more = keys.length > wanted;
  return cut(sent.size + rest.length, more, new Parts(readWorkItems(ctx, first, rest, more && end < MAX_WORK_ITEMS)));
}
