import type { EndpointSpec, Request } from '../endpoint/endpoint.js';
import { Readable } from 'node:stream';
import { type CutPage, JsonText, Reply } from '../endpoint/endpoint.js';
import type { Pages } from '../endpoint/pages.js';
import type { z } from 'zod';

type AnySpec = EndpointSpec<z.ZodType, z.ZodType, z.ZodType>;
type AnyRequest = Request<unknown, unknown, unknown>;

/** Parsed paging query: an offset, or the row after which the page starts. */
interface Window {
  limit?: number;
  offset?: number;
  before?: string;
}

/**
 * Returns a link such as `</api/projects?limit=10&offset=20>; rel="next"`: the request's URL with these parameters changed (RFC
 * 8288).
 */
function link(rel: string, url: string, change: Record<string, string | number | null | undefined>): string {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  for (const [name, value] of Object.entries(change)) {
    if (value === null) searchParams.delete(name);
    else if (value !== undefined) searchParams.set(name, String(value));
  }
  const query = searchParams.toString();
  return `<${pathname}${query && `?${query}`}>; rel="${rel}"`;
}

/** Returns the links of a page. A cursor goes on after its last row, an offset after its number of rows. */
function linksOf({ by, aliases = [] }: Pages, url: string, { limit, before, ...window }: Window, page: CutPage): string[] {
  if (by !== undefined) {
    return [
      ...(page.more ? [link('next', url, { limit, before: page.last })] : []),
      ...(before === undefined ? [] : [link('first', url, { limit, before: null })]),
    ];
  }
  const old = Object.fromEntries(aliases.map((name) => [name, null]));
  const offset = page.offset ?? window.offset ?? 0;
  const at = (rel: string, place: number) => link(rel, url, { ...old, limit, offset: place });
  return [
    ...(page.more ? [at('next', offset + page.count)] : []),
    ...(offset > 0 ? [at('prev', Math.max(0, offset - (limit ?? 0))), at('first', 0)] : []),
  ];
}

/** Returns a page with its headers. The last page of an offset knows the length of the list. */
function replyOf(pages: Pages, window: Window, url: string, page: CutPage): Reply {
  const { body, count, more, truncated = false, headers: given } = page;
  const links = linksOf(pages, url, window, page);
  const offset = page.offset ?? window.offset ?? 0;
  const ended = pages.by === undefined && !more && !truncated && (count > 0 || offset === 0);
  const total = page.total ?? (ended ? offset + count : undefined);
  const headers = {
    ...given,
    ...(truncated && { 'X-Truncated': 'true' }),
    ...(links.length > 0 && { Link: links.join(', ') }),
    ...(total !== undefined && { 'X-Total-Count': String(total) }),
  };
  if (typeof body === 'string') return new Reply(new JsonText(body), { headers });
  if (!(Symbol.asyncIterator in body)) return new Reply(body, { headers });
  return new Reply(Readable.from(body), { headers: { ...headers, 'Content-Type': 'application/json; charset=utf-8' } });
}

/** Requests one row more than the limit, to know whether another page follows. */
async function cutRows(spec: AnySpec, { by, total, fill }: Pages, request: AnyRequest): Promise<CutPage> {
  const { limit = 0, offset = 0 } = request.query as Window;
  const query = { ...(request.query as object), limit: limit + 1 };
  const found = (await spec.handle({ ...request, query })) as Record<string, string>[];
  const rows = found.slice(0, limit);
  const more = found.length > rows.length;
  const counted = by !== undefined || more || (rows.length === 0 && offset > 0) ? await total?.(request) : offset + rows.length;
  const shown = fill ? await fill(request, rows) : { rows, truncated: false };
  const texts = shown.rows.filter((row) => row instanceof JsonText).map((row) => row.text);
  const body = texts.length > 0 ? `[${texts.join(',')}]` : shown.rows;
  const last = by === undefined ? undefined : rows.at(-1)?.[by];
  return { body, count: rows.length, more, last, truncated: shown.truncated, total: counted };
}

/**
 * Returns one page of a list. `Link` points to the neighbors; `X-Total-Count` is set on the last page of an offset or where the route
 * counts cheaply. A 304 has neither.
 */
export async function page(spec: AnySpec, pages: Pages, request: AnyRequest, url: string): Promise<Reply> {
  const cut = pages.cut ? ((await spec.handle(request)) as CutPage | Reply) : await cutRows(spec, pages, request);
  if (cut instanceof Reply) return cut;
  return replyOf(pages, request.query as Window, url, cut);
}
