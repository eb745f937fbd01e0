import type { EndpointSpec, Request } from '../endpoint/endpoint.js';
import { Readable } from 'node:stream';
import { type CutPage, JsonText, Reply } from '../endpoint/endpoint.js';
import type { z } from 'zod';

type AnySpec = EndpointSpec<z.ZodType, z.ZodType, z.ZodType>;
type AnyRequest = Request<unknown, unknown, unknown>;

/** Parsed paging query: an offset, or the id before which the page starts. */
interface Window {
  limit: number;
  offset?: number;
  before?: string;
}

/**
 * Returns a link such as `</api/projects?limit=10&offset=20>; rel="next"`: the request's URL with these parameters changed (RFC
 * 8288).
 */
function link(rel: string, url: string, change: Record<string, string | number | null>): string {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  for (const [name, value] of Object.entries(change)) {
    if (value === null) searchParams.delete(name);
    else searchParams.set(name, String(value));
  }
  const query = searchParams.toString();
  return `<${pathname}${query && `?${query}`}>; rel="${rel}"`;
}

/** Returns the links of this page. `last`: its last row, if more follow. */
function linksOf(by: string | undefined, url: string, { limit, offset = 0, before }: Window, last: unknown): string[] {
  if (by !== undefined) {
    const next = last as Record<string, string> | undefined;
    return [
      ...(next ? [link('next', url, { limit, before: next[by] as string })] : []),
      ...(before === undefined ? [] : [link('first', url, { limit, before: null })]),
    ];
  }
  const at = (rel: string, place: number) => link(rel, url, { limit, offset: place });
  return [
    ...(last === undefined ? [] : [at('next', offset + limit)]),
    ...(offset > 0 ? [at('prev', Math.max(0, offset - limit)), at('first', 0)] : []),
  ];
}

/** Returns a page that the handler has cut. No link leads beyond the hard cap. */
function cutPage({ body, count, more, truncated, headers: given }: CutPage, window: Window, url: string): Reply {
  const headers: Record<string, string> = { ...given, ...(truncated && { 'X-Truncated': 'true' }) };
  const links = linksOf(undefined, url, window, more && !truncated ? true : undefined);
  if (links.length > 0) headers['Link'] = links.join(', ');
  const offset = window.offset ?? 0;
  if (!more && (count > 0 || offset === 0)) headers['X-Total-Count'] = String(offset + count);
  if (typeof body === 'string') return new Reply(new JsonText(body), { headers });
  return new Reply(Readable.from(body), { headers: { ...headers, 'Content-Type': 'application/json; charset=utf-8' } });
}

/**
 * Returns one page of a list as a bare array. Requests one row more than the limit, to know whether it is the last page. `Link`
 * points to the neighbors; `X-Total-Count` is set on the last page or where the route counts cheaply.
 */
export async function page(spec: AnySpec, request: AnyRequest, url: string): Promise<Reply> {
  const { by, total, fill } = spec.pages ?? {};
  const window = request.query as Window;
  if (spec.pages?.cut) return cutPage((await spec.handle(request)) as CutPage, window, url);
  const found = (await spec.handle({ ...request, query: { ...window, limit: window.limit + 1 } })) as unknown[];
  const rows = found.slice(0, window.limit);
  const more = found.length > rows.length;
  const headers: Record<string, string> = {};
  const links = linksOf(by, url, window, more ? rows.at(-1) : undefined);
  if (links.length > 0) headers['Link'] = links.join(', ');
  const offset = window.offset ?? 0;
  const ended = by === undefined && !more && (rows.length > 0 || offset === 0);
  const count = ended ? offset + rows.length : await total?.(request);
  if (count !== undefined) headers['X-Total-Count'] = String(count);
  const shown = fill ? await fill(request, rows) : { rows, truncated: false };
  if (shown.truncated) headers['X-Truncated'] = 'true';
  const texts = shown.rows.filter((row) => row instanceof JsonText).map((row) => row.text);
  return new Reply(texts.length > 0 ? new JsonText(`[${texts.join(',')}]`) : shown.rows, { headers });
}
