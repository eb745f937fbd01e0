import { Readable } from 'node:stream';
import { type CutPage, type Endpoint, JsonText, type Part, Parts, Reply } from '../../platform/endpoint/endpoint.js';
import type { Services } from '../../platform/context.js';
import { type Pages, rowsFields } from '../../platform/endpoint/pages.js';
import { type AnyRequest, type AnySpec, readParts, type PageInfo, type Window } from './read-parts.js';
import { Spool } from './spool.js';

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
function buildLinks({ by, aliases = [] }: Pages, url: string, { limit, before, ...window }: Window, page: CutPage): string[] {
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
function buildReply(pages: Pages, window: Window, url: string, page: CutPage): Reply {
  const { body, count, more, truncated = false, headers: given } = page;
  const links = buildLinks(pages, url, window, page);
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
  const stream = body instanceof Readable ? body : Readable.from(body);
  return new Reply(stream, { headers: { ...headers, 'Content-Type': 'application/json; charset=utf-8' } });
}

/** Writes parts until the list has its maximum of bytes. The page then ends before the part that did not fit. */
async function collect(request: AnyRequest, parts: AsyncIterable<Part>): Promise<CutPage> {
  const spool = new Spool(request.ctx.config);
  try {
    const page = { count: 0, more: false, last: undefined as string | undefined, truncated: false };
    for await (const { text, rows, more, last } of parts) {
      page.truncated = !spool.hasRoom(text);
      page.more = page.truncated || more;
      if (page.truncated) break;
      await spool.add(text);
      page.count += rows;
      page.last = last;
    }
    const body = await spool.body();
    if (typeof body === 'string') return { ...page, body };
    return { ...page, body: body.stream, headers: { 'Content-Length': String(body.length) } };
  } catch (error) {
    await spool.close();
    throw error;
  }
}

/** Reads a page of rows. */
async function collectRows(spec: AnySpec, pages: Pages, request: AnyRequest): Promise<CutPage> {
  const info: PageInfo = { truncated: false, headers: {} };
  const page = await collect(request, readParts(spec, pages, request, info));
  const { offset = 0 } = request.query as Window;
  const isEnd = pages.by === undefined && !page.more && (page.count > 0 || offset === 0);
  const total = pages.cut ? undefined : isEnd ? offset + page.count : await pages.total?.(request);
  return { ...page, truncated: page.truncated || info.truncated, headers: { ...info.headers, ...page.headers }, total };
}

const countBytes = ({ body }: CutPage): number => Buffer.byteLength(typeof body === 'string' ? body : JSON.stringify(body));

/** Asks a handler that cuts its page itself for half as many rows, until the page fits. */
async function askForPage(spec: AnySpec, request: AnyRequest): Promise<CutPage | Reply> {
  const found = (await spec.handle(request)) as CutPage | Reply;
  if (found instanceof Reply) return found;
  let page = found;
  if (page.body instanceof Parts) {
    const { headers, truncated, ...collected } = await collect(request, page.body.read);
    return { ...collected, truncated: truncated || page.truncated === true, headers: { ...page.headers, ...headers } };
  }
  if (typeof page.body !== 'string' && Symbol.asyncIterator in page.body) return page;
  while (page.count > 1 && countBytes(page) > request.ctx.config.LIST_MAX_BYTES) {
    const query = { ...(request.query as object), limit: Math.floor(page.count / 2) };
    page = { ...((await spec.handle({ ...request, query })) as CutPage), truncated: true };
  }
  return page;
}

/** Bounds an object whose fields hold the rows: each field keeps its first half until the object fits. */
function boundFields(spec: AnySpec, maxBytes: number, given: object): { body: object; isCut: boolean } {
  const fields = rowsFields(spec as Endpoint);
  let body = given as Record<string, unknown[]>;
  const rowsIn = () => Math.max(...fields.map((field) => body[field]?.length ?? 0));
  while (Buffer.byteLength(JSON.stringify(body)) > maxBytes && rowsIn() > 1) {
    const half = Math.ceil(rowsIn() / 2);
    body = { ...body, ...Object.fromEntries(fields.map((field) => [field, body[field]?.slice(0, half)])) } as typeof body;
  }
  return { body, isCut: body !== given };
}

function boundArray(rows: unknown[], maxBytes: number): { body: JsonText; isCut: boolean } {
  const texts = rows.map((row) => JSON.stringify(row));
  let bytes = 2;
  const end = texts.findIndex((text) => (bytes += Buffer.byteLength(text) + 1) > maxBytes);
  const isCut = end !== -1;
  return { body: new JsonText(`[${(isCut ? texts.slice(0, end) : texts).join(',')}]`), isCut };
}

/**
 * Bounds a list that does not page: its rows are few, but for a team of a hundred thousand. `X-Truncated` marks one that ends early. Any other
 * answer stays as it is.
 */
export function wholeList(spec: AnySpec, { config }: Services, found: unknown): unknown {
  const list = found instanceof Reply ? found.body : found;
  const isObject =
    rowsFields(spec as Endpoint).length > 0 && !(list instanceof Readable) && typeof list === 'object' && list !== null;
  if (spec.method !== 'get' || !(Array.isArray(list) || isObject)) return found;
  const maxBytes = config.LIST_MAX_BYTES;
  const { body, isCut } = Array.isArray(list) ? boundArray(list, maxBytes) : boundFields(spec, maxBytes, list as object);
  const headers = { ...(found instanceof Reply && found.options.headers), ...(isCut && { 'X-Truncated': 'true' }) };
  return new Reply(body, { headers });
}

/**
 * Returns one page of a list, of at most 10 MB (docs/decisions/platform.md#list-bytes). `Link` points to the neighbors; `X-Total-Count` is set on the last page of an offset or where
 * the route counts cheaply. `X-Truncated` marks a page that ends early. A 304 has none of them.
 */
export async function page(spec: AnySpec, pages: Pages, request: AnyRequest, url: string): Promise<Reply> {
  const ownCut = pages.cut && pages.batch === undefined;
  const cut = ownCut ? await askForPage(spec, request) : await collectRows(spec, pages, request);
  return cut instanceof Reply ? cut : buildReply(pages, request.query as Window, url, cut);
}
