import { run } from '../../db/statement.js';
import { type Context, userOf } from '../core/context.js';
import { someRecordsStatement } from './list-work-items.sql.js';

/** Id and type of an item in a list. */
export interface ItemKey {
  id: string;
  type: string;
}

/** Items of a chunk: a quarter of a megabyte, written in a few milliseconds. */
const CHUNK = 500;

/** Logs the error and aborts the response: the status is already sent, and the client must not take the list for complete. */
function abort({ log }: Context, cause: unknown): never {
  log.error({ err: cause }, 'a list broke off');
  // `expose` keeps Koa from printing it again.
  throw Object.assign(new Error('The list was interrupted', { cause }), { expose: true });
}

/**
 * Streams a long list as a JSON array: first the records already read, then those of `keys` in chunks. Each chunk is a statement of its own,
 * which checks permissions again, so a slow reader occupies no connection. The next chunk is read while one is sent. Omits items deleted in
 * between.
 */
export async function* streamWorkItems(ctx: Context, records: string, keys: readonly ItemKey[]): AsyncGenerator<string> {
  const read = async (at: number): Promise<string> => {
    const chunk = keys.slice(at, at + CHUNK);
    const values = [chunk.map(({ id }) => id), chunk.map(({ type }) => type), userOf(ctx)];
    const [found] = await run<{ records: string | null }>(ctx.db, someRecordsStatement, values);
    return found?.records ?? '';
  };
  const start = (at: number): Promise<string> => {
    const chunk = at < keys.length ? read(at) : Promise.resolve('');
    // If the client stops reading, nothing awaits this promise; otherwise its error surfaces when it is awaited.
    chunk.catch(() => undefined);
    return chunk;
  };
  let next = start(0);
  let empty = records === '';
  yield `[${records}`;
  for (let at = 0; at < keys.length; at += CHUNK) {
    const text = await next.catch((cause: unknown) => abort(ctx, cause));
    next = start(at + CHUNK);
    if (text !== '') yield empty ? text : `,${text}`;
    empty &&= text === '';
  }
  yield ']';
}
