import { setImmediate } from 'node:timers/promises';
import type { z } from 'zod';
import { queueRead } from '../../platform/database/batching/queue-read.js';
import { type CutPage, type EndpointSpec, JsonText, type Part, type Request } from '../../platform/endpoint/endpoint.js';
import type { Pages } from '../../platform/endpoint/pages.js';

export type AnySpec = EndpointSpec<z.ZodType, z.ZodType, z.ZodType>;
export type AnyRequest = Request<unknown, unknown, unknown>;

/** Parsed paging query: an offset, or the row after which the page starts. */
export interface Window {
  limit?: number;
  offset?: number;
  before?: string;
}

/** What a page reports beside its rows. */
export interface PageInfo {
  truncated: boolean;
  headers: Record<string, string>;
}

/** Bytes of the rows that are read or written at once: a few milliseconds of work. */
const PART_BYTES = 128 * 1024;
const MAX_BATCH = 500;
/** Rows of the first batch, whose size is unknown. */
const FIRST_BATCH = 100;

/** Rows of one batch, each as JSON, or all of them as one text. */
interface Batch {
  texts: string[];
  rows: number;
  /** Whether more follow. */
  more: boolean;
  cursors: (string | undefined)[];
}

/** Asks for one row more than wanted, to know whether more follow. */
async function readArray(
  spec: AnySpec,
  { by, fill }: Pages,
  request: AnyRequest,
  window: Window,
  info: PageInfo,
): Promise<Batch> {
  const { limit = MAX_BATCH } = window;
  const found = (await spec.handle({
    ...request,
    query: { ...(request.query as object), ...window, limit: limit + 1 },
  })) as unknown[];
  const wanted = found.slice(0, limit);
  const { rows, truncated } = fill ? await fill(request, wanted) : { rows: wanted, truncated: false };
  info.truncated ||= truncated;
  return {
    texts: rows.map((row) => (row instanceof JsonText ? row.text : JSON.stringify(row))),
    rows: rows.length,
    more: found.length > limit,
    cursors: by === undefined ? [] : wanted.map((row) => (row as Record<string, string>)[by]),
  };
}

async function readCut(spec: AnySpec, request: AnyRequest, window: Window, info: PageInfo): Promise<Batch> {
  const page = (await spec.handle({ ...request, query: { ...(request.query as object), ...window } })) as CutPage;
  info.truncated ||= page.truncated ?? false;
  info.headers = { ...info.headers, ...page.headers };
  const text = (page.body as string).slice(1, -1);
  return { texts: text === '' ? [] : [text], rows: page.count, more: page.more, cursors: [page.last] };
}

/** Cuts a batch into parts of `maxBytes`, or of one row. */
function* cutParts({ texts, rows, more, cursors }: Batch, maxBytes: number): Generator<Part> {
  const perText = texts.length === rows ? 1 : rows;
  for (let at = 0; at < texts.length; ) {
    const from = at;
    let bytes = 0;
    do bytes += Buffer.byteLength(texts[at++] as string);
    while (at < texts.length && bytes + (texts[at] as string).length <= maxBytes);
    const isLast = at === texts.length;
    yield { text: texts.slice(from, at).join(','), rows: (at - from) * perText, more: more || !isLast, last: cursors[at - 1] };
  }
}

/**
 * Reads a page in batches that fit the size of its rows: first as many as the route says that may be large, then what makes 128 kB. So little
 * more than that is in memory, and other requests run in between.
 */
export async function* readParts(spec: AnySpec, pages: Pages, request: AnyRequest, info: PageInfo): AsyncGenerator<Part> {
  let { limit: left = Infinity, offset = 0, before } = request.query as Window;
  let size = pages.batch ?? FIRST_BATCH;
  let total = { rows: 0, bytes: 0 };
  for (;;) {
    const window: Window = {
      limit: Math.min(left, size),
      ...(pages.by === undefined ? { offset } : before !== undefined && { before }),
    };
    const read = () => (pages.cut ? readCut(spec, request, window, info) : readArray(spec, pages, request, window, info));
    const batch = await (total.rows === 0 ? read() : queueRead(read));
    for (const part of cutParts(batch, Math.min(PART_BYTES, request.ctx.config.LIST_MAX_BYTES))) {
      yield part;
      total = { rows: total.rows + part.rows, bytes: total.bytes + part.text.length };
      await setImmediate();
    }
    left -= batch.rows;
    if (!batch.more || left <= 0 || batch.rows === 0) return;
    offset += batch.rows;
    before = batch.cursors.at(-1);
    size = Math.max(1, Math.min(MAX_BATCH, Math.floor((PART_BYTES * total.rows) / total.bytes)));
  }
}
